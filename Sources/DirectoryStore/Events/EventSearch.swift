// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI

/// Searches events, newest first.
extension EventLedger {
    /// The conditions of a search; nil matches everything.
    package struct Filter: Hashable, Sendable {
        package var number: E164Number?
        package var outcome: String?
        package var counted: Bool?
        package var deviceID: String?
        /// Any of these brands; an empty set matches no event.
        package var brandIDs: Set<String>?
        /// `call_outcome` of the event.
        package var callOutcome: String?
        /// Seconds since 1970: received at this time or later.
        package var since: Int64?
        /// Seconds since 1970: received before this time.
        package var until: Int64?

        package init() {}

        /// The values that columns must have; nil for no condition.
        fileprivate var columns: [(String, (any SQLArgument)?)] {
            [
                ("number", number?.description), ("outcome", outcome), ("counted", counted), ("device_id", deviceID),
                ("call_outcome", callOutcome),
            ]
        }
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
            var conditions = ["account = ?", "received BETWEEN ? AND ?", "(received, id) < (?, ?)"]
            var values: [any SQLArgument] = [
                account.row, filter.since ?? 0, (filter.until ?? .max) - 1, after?.received ?? .max, after?.id ?? .max,
            ]
            for (column, value) in filter.columns where value != nil {
                conditions.append("\(column) = ?")
                values += value.map { [$0] } ?? []
            }
            if let brands = filter.brandIDs {
                let places = repeatElement("?", count: brands.count).joined(separator: ", ")
                conditions.append(brands.isEmpty ? "FALSE" : "brand_id IN (\(places))")
                values += brands.sorted().map { $0 as any SQLArgument }
            }
            let rows = try database.rows(
                """
                SELECT * FROM event WHERE \(conditions.joined(separator: " AND "))
                ORDER BY received DESC, id DESC LIMIT ?
                """, SQLArguments((values + [limit]).map(\.sqlArgument)))
            let next = rows.count == limit ? rows.last.map { Position(received: $0["received"], id: $0["id"]) } : nil
            return (try rows.map(Self.recorded), next)
        }
    }
}
