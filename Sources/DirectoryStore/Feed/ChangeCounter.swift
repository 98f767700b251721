// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Changes many numbers of an account at once; each takes the next change number of the account.
///
/// It runs inside the caller's transaction, so a reader of the feed sees the whole change or nothing.
enum ChangeCounter {
    /// Applies `set` to every number that satisfies `condition`, both SQL over `brand_number`.
    ///
    /// - Parameters:
    ///   - arguments: values of named parameters in both; `account`, `now` and `base` are reserved.
    ///   - now: seconds since 1970; `updated` never decreases, even after a clock step.
    /// - Returns: the count of changed numbers.
    static func apply(
        _ set: String, where condition: String, _ arguments: [String: (any DatabaseValueConvertible)?],
        _ account: AccountID, now: Int64, _ database: Database
    ) throws -> Int {
        var all = arguments
        all["account"] = account.row
        all["now"] = now
        all["base"] = try last(account, database)
        try database.execute(
            sql: """
                UPDATE brand_number SET \(set), updated = max(updated, :now), change = :base + touched.place
                FROM (SELECT number AS its_number, row_number() OVER (ORDER BY change) AS place FROM brand_number
                    WHERE account = :account AND (\(condition))) AS touched
                WHERE account = :account AND number = touched.its_number
                """, arguments: StatementArguments(all))
        let count = database.changesCount
        try advance(account, by: count, database)
        return count
    }

    /// The number of the account's last change.
    static func last(_ account: AccountID, _ database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(sql: "SELECT last_change FROM account WHERE id = ?")
        guard let last = try Int64.fetchOne(statement, arguments: [account.row]) else {
            throw DatabaseError(message: "there is no account \(account.row)")
        }
        return last
    }

    /// The time of the last change up to a change number, in seconds since 1970; nil without one.
    ///
    /// A restored backup reuses change numbers, so a number alone does not identify a change.
    static func time(
        ofChange change: Int64, _ account: AccountID, _ database: Database
    ) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: "SELECT updated FROM brand_number WHERE account = ? AND change <= ? ORDER BY change DESC LIMIT 1")
        return try Int64.fetchOne(statement, arguments: [account.row, change])
    }

    /// Advances the counter by `count` assigned change numbers.
    static func advance(_ account: AccountID, by count: Int, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE account SET last_change = last_change + ? WHERE id = ?", arguments: [count, account.row])
    }
}
