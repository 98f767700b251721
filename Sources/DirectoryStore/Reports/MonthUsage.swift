// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// The count of an account's counted events in a calendar month, in UTC.
///
/// The transaction that records an event updates it, so the check of a cap counts no rows.
enum MonthUsage {
    /// - Parameter now: seconds since 1970; selects the month.
    static func counted(by account: AccountID, now: Int64, _ database: Database) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT counted FROM month_usage WHERE account = ? AND month = ?")
        return try Int.fetchOne(statement, arguments: [account.row, month(of: now)]) ?? 0
    }

    static func add(to account: AccountID, now: Int64, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO month_usage (account, month, counted) VALUES (?, ?, 1)
                ON CONFLICT (account, month) DO UPDATE SET counted = counted + 1
                """)
        try statement.execute(arguments: [account.row, month(of: now)])
    }

    /// Such as `2026-01`.
    private static func month(of now: Int64) -> String { String(Timestamp.string(from: now).prefix(7)) }
}
