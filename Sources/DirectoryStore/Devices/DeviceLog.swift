// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// The latest lines of a device's log (`mobile/device/log`): a ring of fixed size for each registered device.
package struct DeviceLog: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    /// Lines kept per device.
    package static let kept = 50
    /// Most characters of a message.
    package static let longestMessage = 2_000
    /// Most bytes of `meta` as JSON; a longer one is dropped.
    package static let largestMeta = 2_048

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A stored line; the keys of the JSON form are the contract's.
    package struct Line: Codable, Hashable, Sendable {
        package var level: String
        package var message: String
        package var meta: JSONValue?
        /// The device's own time.
        package var occurredAt: String?
        /// ISO 8601, by the server's clock.
        package var receivedAt: String

        package init(
            level: String, message: String, meta: JSONValue? = nil, occurredAt: String? = nil, receivedAt: String
        ) {
            self.level = level
            self.message = message
            self.meta = meta
            self.occurredAt = occurredAt
            self.receivedAt = receivedAt
        }

        package enum CodingKeys: String, CodingKey {
            case level, message, meta
            case occurredAt = "occurred_at"
            case receivedAt = "received_at"
        }
    }

    /// Stores a line of a registered device in place of its oldest.
    ///
    /// Lines of unregistered devices and lines above the account's daily limit are dropped.
    ///
    /// - Parameter now: seconds since 1970.
    package func append(_ line: Line, of device: String, now: Int64) async throws {
        let meta = try line.meta.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try await database.commits.write { [account, limit = database.storedPerDay] database in
            let counting =
                "UPDATE device SET log_lines = log_lines + 1 WHERE account = ? AND device_id = ? RETURNING log_lines"
            guard let number = try database.value(Int64.self, counting, [account.row, device]) else { return }
            let size = line.message.utf8.count + (meta?.utf8.count ?? 0)
            guard try AccountQuota.take(size, of: account, limit: limit, now: now, database) else { return }
            let keeping = """
                INSERT INTO device_log
                (account, device_id, slot, number, level, message, meta, occurred_at, received)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (account, device_id, slot) DO UPDATE SET number = excluded.number,
                level = excluded.level, message = excluded.message, meta = excluded.meta,
                occurred_at = excluded.occurred_at, received = excluded.received
                """
            try database.execute(
                keeping,
                [
                    account.row, device, number % Int64(Self.kept), number, line.level, line.message, meta,
                    line.occurredAt, now,
                ])
        }
    }

    /// The stored lines of a device, the newest last; nil for an unregistered device.
    package func lines(of device: String) throws -> [Line]? {
        try database.pool.read { [account] database in
            guard try DeviceList.isRegistered(device, account, database) else { return nil }
            return try database.rows(
                "SELECT * FROM device_log WHERE account = ? AND device_id = ? ORDER BY number", [account.row, device]
            ).map { row in
                let meta: String? = row["meta"]
                return Line(
                    level: row["level"], message: row["message"],
                    meta: try meta.map { try JSONValue(parsing: $0.utf8, levels: .max) },
                    occurredAt: row["occurred_at"], receivedAt: Timestamp.string(from: row["received"]))
            }
        }
    }
}
