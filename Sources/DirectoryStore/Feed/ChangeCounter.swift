// SPDX-License-Identifier: Apache-2.0

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
        _ set: String, where condition: String, _ arguments: SQLArguments,
        _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> Int {
        var all = arguments
        all.named["account"] = .integer(account.row)
        all.named["now"] = .integer(now)
        all.named["base"] = .integer(try lock(account, database))
        let count = try database.execute(
            """
            UPDATE brand_number SET \(set), updated = CASE WHEN updated > :now THEN updated ELSE :now END, change = :base + touched.place
            FROM (SELECT number AS its_number, row_number() OVER (ORDER BY change) AS place FROM brand_number
                WHERE account = :account AND (\(condition))) AS touched
            WHERE account = :account AND number = touched.its_number
            """, all)
        try advance(account, by: count, database)
        return count
    }

    /// The end of an account's feed.
    struct Head: Hashable, Sendable {
        /// Counts how often the change numbers began anew, such as after the restore of a server.
        let epoch: Int64
        /// The number of the last change.
        let last: Int64
    }

    /// The number of the account's last change.
    static func last(_ account: AccountID, _ database: any SQLConnection) throws -> Int64 {
        try head(account, database).last
    }

    /// Locks the feed of an account until the end of the transaction, and returns the number of its last change.
    static func lock(_ account: AccountID, _ database: any SQLConnection) throws -> Int64 {
        try head(account, lock: database.dialect.lock, database).last
    }

    /// Creates the feed of a new account.
    static func begin(_ account: AccountID, _ database: any SQLConnection) throws {
        try database.execute("INSERT INTO feed_head (account, epoch, last_change) VALUES (?, 0, 0)", [account.row])
    }

    /// The end of an account's feed.
    static func head(_ account: AccountID, lock: String = "", _ database: any SQLConnection) throws -> Head {
        let statement = "SELECT epoch, last_change FROM feed_head WHERE account = ? \(lock)"
        guard let row = try database.row(statement, [account.row]) else {
            throw InconsistentStore(description: "there is no account \(account.row)")
        }
        return Head(epoch: row[0], last: row[1])
    }

    /// The time of the last change up to a change number, in seconds since 1970; nil without one.
    ///
    /// A restored backup reuses change numbers, so a number alone does not identify a change.
    static func time(
        ofChange change: Int64, _ account: AccountID, _ database: any SQLConnection
    ) throws -> Int64? {
        let statement =
            "SELECT updated FROM brand_number WHERE account = ? AND change <= ? ORDER BY change DESC LIMIT 1"
        return try database.value(Int64.self, statement, [account.row, change])
    }

    /// Advances the counter by `count` assigned change numbers.
    static func advance(_ account: AccountID, by count: Int, _ database: any SQLConnection) throws {
        try database.execute(
            "UPDATE feed_head SET last_change = last_change + ? WHERE account = ?", [count, account.row])
    }
}
