// SPDX-License-Identifier: Apache-2.0

import Host

/// Merges the staged rows of a file into an account of SQLite, in transactions of some milliseconds.
///
/// SQLite has one writer. A merge of a million numbers in one transaction would keep every event waiting for seconds.
/// So each step writes a range of brands or numbers, and other writers write between two steps. Readers see
/// each number with its old or its new values. Brands come first, then numbers in their order, then the numbers that a
/// replacement takes out. A step changes only what differs, so a merge that was interrupted can begin again.
struct SteppedMerge {
    let session: any SQLSession
    let staging: EntryStaging
    let account: AccountID
    let replaces: Bool
    /// Seconds since 1970, evaluated in each step: a client that syncs meanwhile must receive later steps.
    let now: () -> Int64
    /// Called between two steps; its error ends the merge there.
    let rest: () throws -> Void

    /// Rows of the first step and of the shortest; others follow the time that a step takes.
    private static let fewest = 250
    private static let most = 50_000
    private static let (short, long) = (Duration.milliseconds(10), Duration.milliseconds(40))

    private var database: any SQLConnection { staging.database }

    /// Lists the brands of the rows in the staging, outside of the merge because it takes long.
    func prepare() throws {
        try session.transaction(writes: false) {
            try database.execute("DROP TABLE IF EXISTS staging.last_brand")
            try database.execute(
                "CREATE TABLE staging.last_brand (id TEXT PRIMARY KEY, name TEXT NOT NULL, logo TEXT, reason TEXT)")
            try database.execute("INSERT INTO staging.last_brand \(EntryStaging.lastOfEachBrand)")
            return true
        }
    }

    /// Makes all steps.
    func run() throws -> EntryStaging.Merged {
        var merged = EntryStaging.Merged()
        // A step that a power cut undoes is made again, so none waits for the disk.
        try database.execute("PRAGMA main.synchronous = NORMAL")
        try steps(of: "last_brand", "id", String.self, first: "") { range, arguments, now in
            try database.execute(
                """
                INSERT INTO brand (account, id, name, logo, reason, updated)
                SELECT :account, id, name, logo, reason, :now FROM last_brand WHERE \(range)
                \(EntryStaging.brandConflict)
                """, arguments.adding(["account": account.row, "now": now]))
        }
        try steps(of: "incoming", "number", Int64.self, first: 0) { range, arguments, now in
            let base = try ChangeCounter.lock(account, database)
            let changed = try database.execute(
                EntryStaging.mergeNumbers(range),
                arguments.adding(["account": account.row, "now": now, "base": base]))
            try ChangeCounter.advance(account, by: changed, database)
            merged.changed += changed
        }
        merged.unchanged = try staging.count() - merged.changed
        if replaces { merged.deactivated = try deactivate() }
        try synchronise()
        return merged
    }

    /// Waits until all steps are on disk: the journal is removed after them.
    private func synchronise() throws {
        try database.execute("PRAGMA main.synchronous = FULL")
        try session.transaction(writes: true) {
            try database.execute("UPDATE feed_head SET last_change = last_change WHERE account = ?", [account.row])
            return true
        }
    }

    /// Takes numbers without a row out of use.
    private func deactivate() throws -> Int {
        try session.transaction(writes: false) {
            // Not in the file of the rows, which stays as it was synced.
            try database.makeTemporaryTable("missing", "number INTEGER PRIMARY KEY")
            try database.execute(
                """
                INSERT INTO temp.missing SELECT number FROM brand_number WHERE account = ?1 AND \(EntryStaging.isMissing)
                UNION SELECT number FROM registered_number WHERE account = ?1 AND \(Registrations.releasedByRegistration)
                AND \(EntryStaging.isWithoutEntry("registered_number"))
                """, [account.row])
            return true
        }
        var count = 0
        try steps(of: "missing", "number", Int64.self, first: 0) { range, arguments, now in
            let numbers = "number IN (SELECT number FROM missing WHERE \(range))"
            try Registrations.withdraw(where: numbers, arguments, account, database)
            count += try ChangeCounter.apply(
                "active = FALSE, held = FALSE", where: "\(numbers) AND (active OR held)", arguments, account,
                now: now, database)
        }
        return count
    }

    /// Runs `step` for one range of a table after another, each in a transaction.
    ///
    /// - Parameter step: gets a condition for its range, with the arguments `low` and `high`.
    private func steps<Key: SQLConvertible & SQLArgument>(
        of table: String, _ key: String, _: Key.Type, first: Key,
        _ step: (_ range: String, _ arguments: SQLArguments, _ now: Int64) throws -> Void
    ) throws {
        var (low, size) = (first, Self.fewest)
        while true {
            let ends = "SELECT max(\(key)) FROM (SELECT \(key) FROM \(table) WHERE \(key) > ? ORDER BY \(key) LIMIT ?)"
            guard let high = try database.value(Key.self, ends, [low, size]) else { return }
            let began = ContinuousClock.now
            try session.transaction(writes: true) {
                let column = "\(table).\(key)"
                try step("\(column) > :low AND \(column) <= :high", ["low": low, "high": high], now())
                return true
            }
            let took = ContinuousClock.now - began
            size = took < Self.short ? min(size * 2, Self.most) : took > Self.long ? max(size / 2, Self.fewest) : size
            low = high
            try rest()
        }
    }
}

extension SQLArguments {
    fileprivate func adding(_ others: SQLArguments) -> SQLArguments {
        var all = self
        all.named.merge(others.named) { $1 }
        return all
    }
}
