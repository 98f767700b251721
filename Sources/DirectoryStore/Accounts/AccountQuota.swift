// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// Bounds what the clients of one account may have stored in a day, in UTC.
///
/// A key that was taken out of one phone is anybody's, and a device can call itself as it likes. Without a bound such a
/// key fills the disk for all accounts. Counted events are bounded by the account's cap and are always stored.
package enum AccountQuota {
    static let schema = """
        CREATE TABLE day_stored (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT NOT NULL,
            bytes INTEGER NOT NULL, PRIMARY KEY (account, day)) WITHOUT ROWID;
        """
    /// What a row takes beside its texts, with its places in indexes; in bytes.
    static let row = 256

    /// Takes bytes of the day's bound, in the transaction that stores them.
    ///
    /// - Parameters:
    ///   - limit: bytes a day; 0 is no bound.
    ///   - now: seconds since 1970.
    /// - Returns: false when the bound is reached, and nothing is to be stored.
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

    /// The names of the accounts whose clients have reached the bound in a day, such as `2026-01-31`.
    package static func accountsAtLimit(on day: String, in database: DirectoryDatabase) async throws -> [String] {
        try await database.pool.read { [limit = database.storedPerDay] database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM day_stored JOIN account ON id = account WHERE day = ? AND bytes >= ?",
                arguments: [day, limit])
        }
    }
}
