// SPDX-License-Identifier: Apache-2.0

/// Limits the bytes that the clients of one account may store in a day, in UTC.
///
/// A key extracted from a phone is public, and a device chooses its own identifier. Without a limit such a key fills
/// the disk for all accounts. Counted events are limited by the account's cap and are always stored.
package enum AccountQuota {
    /// Bytes that a row takes beside its texts, including its index entries.
    static let row = 256

    /// Takes bytes from the day's limit, in the transaction that stores them.
    ///
    /// - Parameters:
    ///   - limit: bytes a day; 0 means no limit.
    ///   - now: seconds since 1970.
    /// - Returns: false when the limit is reached; the caller stores nothing.
    static func take(
        _ bytes: Int, of account: AccountID, limit: Int, now: Int64, _ database: any SQLConnection
    ) throws -> Bool {
        if limit == 0 { return true }
        let day = EventTime.day(of: now)
        if try taken(by: account, on: day, database) >= limit { return false }
        try database.execute(
            """
            INSERT INTO day_stored (account, day, shard, bytes) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, day, shard) DO UPDATE SET bytes = day_stored.bytes + excluded.bytes
            """, [account.row, day, database.shard, bytes + row])
        return true
    }

    /// The bytes that an account has taken on a day such as `2026-01-31`.
    private static func taken(by account: AccountID, on day: String, _ database: any SQLConnection) throws -> Int {
        try database.value(
            Int.self, "SELECT CAST(sum(bytes) AS BIGINT) FROM day_stored WHERE account = ? AND day = ?",
            [account.row, day]) ?? 0
    }

    /// The names of the accounts at their limit on a day such as `2026-01-31`.
    package static func accountsAtLimit(on day: String, in database: DirectoryDatabase) async throws -> [String] {
        try await database.pool.read { [limit = database.storedPerDay] database in
            try database.values(
                String.self,
                """
                SELECT name FROM account JOIN day_stored ON id = account WHERE day = ?
                GROUP BY id, name HAVING sum(bytes) >= ? ORDER BY id
                """, [day, limit])
        }
    }
}
