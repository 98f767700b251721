// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Counts the sync responses delivered to an account by day, the contract's basis for billing.
///
/// A response counts once its last byte is handed to the connection. Unchanged responses (304) are counted separately,
/// in memory, and written once a minute: each poll of a quiet account would be a commit.
/// Source: securenode-endpoint-contract §7b, "Branding efforts (delivery)".
package struct SyncDeliveries: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// One day in UTC.
    package struct Day: Codable, Hashable, Sendable {
        /// Such as `2026-01-31`.
        package var day: String
        /// Complete responses.
        package var delivered: Int
        /// Entries in them.
        package var entries: Int
        /// Responses with 304, to clients that held the present state.
        package var unchanged: Int
    }

    /// The days of a range, both ends included and such as `2026-01-31`; days without a sync are left out.
    package func days(from first: String, through last: String) throws -> [Day] {
        // The days of a database that takes no writes can still be read.
        try? database.unchanged.write(to: database.pool)
        return try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM sync_delivery WHERE account = ? AND day BETWEEN ? AND ? ORDER BY day",
                [account.row, first, last]
            ).map {
                Day(day: $0["day"], delivered: $0["delivered"], entries: $0["entries"], unchanged: $0["unchanged"])
            }
        }
    }

    /// The deliveries of a month such as `2026-01`.
    static func delivered(to account: AccountID, in month: String, _ database: any SQLConnection) throws -> Int {
        try database.value(
            Int.self,
            "SELECT CAST(coalesce(sum(delivered), 0) AS BIGINT) FROM sync_delivery WHERE account = ? AND day LIKE ?",
            [account.row, month + "-%"]) ?? 0
    }

    /// Counts a delivered response; `now` is seconds since 1970.
    package func recordDelivery(entries: Int, now: Int64) async throws {
        try await database.commits.write { [account] database in
            try Self.add(delivered: 1, entries: entries, to: account, Self.day(of: now), database)
        }
    }

    /// Counts a response with 304; `writeUnchangedResponses` of the database stores it.
    package func recordUnchanged(now: Int64) { database.unchanged.record(account, day: Self.day(of: now)) }

    private static func day(of now: Int64) -> String { String(Timestamp.string(from: now).prefix(10)) }

    private static func add(
        delivered: Int, entries: Int, to account: AccountID, _ day: String, _ database: any SQLConnection
    ) throws {
        try database.execute(
            """
            INSERT INTO sync_delivery (account, day, delivered, entries, unchanged) VALUES (?, ?, ?, ?, 0)
            ON CONFLICT (account, day) DO UPDATE SET delivered = sync_delivery.delivered + excluded.delivered,
            entries = sync_delivery.entries + excluded.entries
            """, [account.row, day, delivered, entries])
    }
}
