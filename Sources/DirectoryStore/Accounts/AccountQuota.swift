// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

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
        _ bytes: Int, of account: AccountID, limit: Int, now: Int64, _ database: Database
    ) throws -> Bool {
        if limit == 0 { return true }
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO day_stored (account, day, bytes) VALUES (:account, :day, :bytes)
                ON CONFLICT (account, day) DO UPDATE SET bytes = bytes + excluded.bytes WHERE bytes < :limit
                """)
        try statement.execute(arguments: [
            "account": account.row, "day": String(Timestamp.string(from: now).prefix(10)), "bytes": bytes + row,
            "limit": limit,
        ])
        return database.changesCount > 0
    }

    /// The names of the accounts at their limit on a day such as `2026-01-31`.
    package static func accountsAtLimit(on day: String, in database: DirectoryDatabase) async throws -> [String] {
        try await database.pool.read { [limit = database.storedPerDay] database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM day_stored JOIN account ON id = account WHERE day = ? AND bytes >= ?",
                arguments: [day, limit])
        }
    }
}
