// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
import GRDB

/// Searches events, newest first.
extension EventLedger {
    /// The conditions of a search; nil matches everything.
    package struct Filter: Hashable, Sendable {
        package var number: E164Number?
        package var outcome: String?
        package var counted: Bool?
        package var deviceID: String?
        /// Seconds since 1970: received at this time or later.
        package var since: Int64?
        /// Seconds since 1970: received before this time.
        package var until: Int64?

        package init() {}
    }

    /// The end of a page, as a text for the next request.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let received: Int64
        let id: Int64

        package var description: String { "\(received)-\(id)" }

        init(received: Int64, id: Int64) {
            self.received = received
            self.id = id
        }

        /// Nil for an invalid text.
        package init?(_ text: String) {
            let parts = text.split(separator: "-").map { Int64($0) }
            guard parts.count == 2, let received = parts[0], let id = parts[1] else { return nil }
            self.init(received: received, id: id)
        }
    }

    /// At most `limit` events after `after`, and the start of the next page; nil at the end.
    package func page(
        _ filter: Filter, after: Position? = nil, limit: Int
    ) throws -> (events: [Recorded], next: Position?) {
        try database.pool.read { [account] database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM event WHERE account = :account AND received BETWEEN :since AND :until
                    AND (received, id) < (:received, :id)
                    AND \(filter.number == nil ? ":number IS NULL" : "number = :number")
                    AND (:outcome IS NULL OR outcome = :outcome) AND (:counted IS NULL OR counted = :counted)
                    AND (:device IS NULL OR device_id = :device)
                    ORDER BY received DESC, id DESC LIMIT :limit
                    """,
                arguments: [
                    "account": account.row, "since": filter.since ?? 0, "until": (filter.until ?? .max) - 1,
                    "received": after?.received ?? .max, "id": after?.id ?? .max,
                    "number": filter.number?.description, "outcome": filter.outcome, "counted": filter.counted,
                    "device": filter.deviceID, "limit": limit,
                ])
            let next = rows.count == limit ? rows.last.map { Position(received: $0["received"], id: $0["id"]) } : nil
            return (try rows.map(Self.recorded), next)
        }
    }
}
