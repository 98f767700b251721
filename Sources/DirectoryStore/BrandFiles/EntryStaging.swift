// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// Collects entries in a temporary table and merges them into the account in one step.
///
/// SQLite keeps the table in a file of its own. Collecting takes no lock on the database and constant memory, whatever
/// the length of the input. The table belongs to one connection; a second staging there replaces it.
struct EntryStaging {
    /// The result of a merge.
    struct Merged: Hashable {
        /// New and changed numbers.
        var changed = 0
        var unchanged = 0
        /// Numbers deactivated because no entry has them.
        var deactivated = 0
    }

    private let database: Database
    private let insert: Statement

    init(_ database: Database) throws {
        self.database = database
        try database.execute(
            sql: """
                PRAGMA temp.cache_size = -16384;
                DROP TABLE IF EXISTS temp.incoming;
                CREATE TEMP TABLE incoming (
                    number INTEGER PRIMARY KEY, line INTEGER NOT NULL, name TEXT NOT NULL, brand_id TEXT NOT NULL,
                    logo_url TEXT, call_reason TEXT);
                """)
        insert = try database.makeStatement(sql: "INSERT OR IGNORE INTO incoming VALUES (?, ?, ?, ?, ?, ?)")
    }

    /// Adds an entry.
    ///
    /// - Returns: the line of an earlier entry of the same number, which is kept; nil without one.
    func add(_ entry: BrandEntries.Entry, line: Int) throws -> Int? {
        let number = Int64(entry.number.digits)
        try insert.execute(arguments: [number, line, entry.name, entry.brandID, entry.logoURL, entry.callReason])
        if database.changesCount > 0 { return nil }
        return try Int.fetchOne(database, sql: "SELECT line FROM incoming WHERE number = ?", arguments: [number])
    }

    /// The count of entries.
    func count() throws -> Int { try Int.fetchOne(database, sql: "SELECT count(*) FROM incoming") ?? 0 }

    /// The plain logo file names of the entries, each with its first line and its count of entries.
    func logos() throws -> [(name: String, line: Int, entries: Int)] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT logo_url, min(line), count(*) FROM incoming WHERE \(LogoURLs.isPlainName("logo_url"))
                GROUP BY logo_url ORDER BY 2
                """
        ).map { ($0[0], $0[1], $0[2]) }
    }

    /// Writes the differences, each with a change number; must run inside a transaction.
    ///
    /// Change numbers follow the numeric order of the table on disk; a random order takes many times as long.
    ///
    /// - Parameters:
    ///   - replaces: true deactivates every number of the account without an entry.
    ///   - now: seconds since 1970.
    func merge(into account: AccountID, replaces: Bool, now: Int64) throws -> Merged {
        var merged = Merged()
        try mergeBrands(account, now: now)
        try database.execute(
            sql: Self.mergeNumbers,
            arguments: ["account": account.row, "now": now, "base": try ChangeCounter.last(account, database)])
        merged.changed = database.changesCount
        merged.unchanged = try count() - merged.changed
        try ChangeCounter.advance(account, by: merged.changed, database)
        if replaces {
            merged.deactivated = try ChangeCounter.apply(
                "active = 0, held = 0",
                where: Self.isMissing, [:], account, now: now, database)
        }
        return merged
    }

    /// Drops the table.
    func end() throws { try database.execute(sql: "DROP TABLE temp.incoming") }

    /// A brand gets the name and logo of its last entry.
    ///
    /// Only a new brand gets the call reason, because each number may have its own.
    private func mergeBrands(_ account: AccountID, now: Int64) throws {
        try database.execute(
            sql: """
                INSERT INTO brand (account, id, name, logo, reason, updated)
                SELECT :account, brand_id, name, logo_url, call_reason, :now
                FROM (\(Self.lastOfEachBrand))
                WHERE true
                ON CONFLICT (account, id) DO UPDATE SET name = excluded.name, logo = excluded.logo,
                updated = max(updated, excluded.updated)
                WHERE name IS NOT excluded.name OR logo IS NOT excluded.logo
                """, arguments: ["account": account.row, "now": now])
    }

    /// The entries by brand, each the last of its brand.
    static let lastOfEachBrand =
        "SELECT brand_id, name, logo_url, call_reason, max(line) FROM incoming GROUP BY brand_id"

    /// The condition of a number that a replacement deactivates.
    static let isMissing = "(active = 1 OR held = 1) AND number NOT IN (SELECT number FROM incoming)"

    /// The condition of an entry that differs from the account's number, named `known`.
    static let differs = """
        (known.number IS NULL OR known.name IS NOT incoming.name OR known.brand_id IS NOT incoming.brand_id
            OR known.logo_url IS NOT incoming.logo_url OR known.call_reason IS NOT incoming.call_reason
            OR known.active + known.held = 0)
        """

    private static let mergeNumbers = """
        INSERT INTO brand_number
            (account, number, name, brand_id, logo_url, call_reason, updated, active, held, change)
        SELECT :account, incoming.number, incoming.name, incoming.brand_id, incoming.logo_url, incoming.call_reason,
            :now, owner = 'active', owner <> 'active', :base + row_number() OVER (ORDER BY incoming.number)
        FROM incoming JOIN brand ON brand.account = :account AND brand.id = incoming.brand_id
            LEFT JOIN brand_number AS known ON known.account = :account AND known.number = incoming.number
        WHERE \(differs)
        ON CONFLICT (account, number) DO UPDATE SET name = excluded.name, brand_id = excluded.brand_id,
            logo_url = excluded.logo_url, call_reason = excluded.call_reason,
            updated = max(updated, excluded.updated), active = excluded.active, held = excluded.held,
            change = excluded.change
        """
}
