// SPDX-License-Identifier: Apache-2.0

import Branding

/// Collects entries in a table of their own and merges them into the account.
///
/// The database keeps the table apart. Collecting takes no lock on other tables and constant memory, whatever the length
/// of the input. The table is a temporary one of its connection, or in a file beside the database of SQLite.
final class EntryStaging {
    /// The result of a merge.
    struct Merged: Hashable {
        /// New and changed numbers.
        var changed = 0
        var unchanged = 0
        /// Numbers deactivated because no entry has them.
        var deactivated = 0
    }

    /// An entry that was left out, because an earlier entry has its number.
    struct Duplicate: Hashable {
        let number: E164Number
        let line: Int
        let earlier: Int
    }

    let database: any SQLConnection
    private var waiting: [(entry: BrandEntries.Entry, line: Int)] = []

    /// Entries of one statement.
    private static let batchSize = 1000
    private static let columns: [SQLColumn] = [
        SQLColumn("number", .integer), SQLColumn("line", .integer), SQLColumn("name", .text),
        SQLColumn("brand_id", .text), SQLColumn("logo_url", .text), SQLColumn("call_reason", .text),
    ]

    /// Collects in a temporary table; a second staging on the connection replaces it.
    init(_ database: any SQLConnection) throws {
        self.database = database
        try database.makeTemporaryTable("incoming", Self.definition(database.dialect))
    }

    /// Collects in an empty database of SQLite, or reads the entries of an earlier program from it.
    ///
    /// - Parameter file: its path. The connection keeps it attached under the name `staging`.
    init(_ database: any SQLConnection, file: String) throws {
        self.database = database
        try database.execute("ATTACH DATABASE ? AS staging", [file])
        // The file counts once it is complete and synced; until then a power cut may ruin it.
        _ = try database.rows("PRAGMA staging.journal_mode = OFF")
        try database.execute("PRAGMA staging.synchronous = OFF")
        try database.execute("PRAGMA staging.cache_size = -16384")
        try database.execute(
            "CREATE TABLE IF NOT EXISTS staging.incoming (\(Self.definition(database.dialect)))")
    }

    private static func definition(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.name(of: .integer), dialect.name(of: .text))
        return """
            number \(integer) PRIMARY KEY, line \(integer) NOT NULL, name \(text) NOT NULL, brand_id \(text) NOT NULL,
            logo_url \(text), call_reason \(text)
            """
    }

    /// Adds an entry.
    ///
    /// - Returns: duplicates among this entry and those before it, each once; the earliest entry of a number is kept.
    func add(_ entry: BrandEntries.Entry, line: Int) throws -> [Duplicate] {
        waiting.append((entry, line))
        return waiting.count < Self.batchSize ? [] : try flush()
    }

    /// Writes the entries that wait; the last step before a merge.
    ///
    /// - Returns: duplicates, as `add`.
    func flush() throws -> [Duplicate] {
        if waiting.isEmpty { return [] }
        defer { waiting.removeAll(keepingCapacity: true) }
        let rows = waiting.map { entry, line -> [SQLValue] in
            [
                .integer(Int64(entry.number.digits)), .integer(Int64(line)), .text(entry.name), .text(entry.brandID),
                entry.logoURL.sqlArgument, entry.callReason.sqlArgument,
            ]
        }
        let count = try database.insert(into: "incoming", Self.columns, rows, "ON CONFLICT (number) DO NOTHING")
        return count == rows.count ? [] : try duplicates()
    }

    private func duplicates() throws -> [Duplicate] {
        let places = repeatElement("?", count: waiting.count).joined(separator: ", ")
        var lines: [Int64: Int] = [:]
        for row in try database.rows(
            "SELECT number, line FROM incoming WHERE number IN (\(places))",
            SQLArguments(waiting.map { .integer(Int64($0.entry.number.digits)) }))
        {
            lines[row[0]] = row[1]
        }
        return waiting.compactMap { entry, line in
            guard let earlier = lines[Int64(entry.number.digits)], earlier != line else { return nil }
            return Duplicate(number: entry.number, line: line, earlier: earlier)
        }
    }

    /// The count of entries.
    func count() throws -> Int { try database.value(Int.self, "SELECT count(*) FROM incoming") ?? 0 }

    /// The plain logo file names of the entries, each with its first line and its count of entries.
    func logos() throws -> [(name: String, line: Int, entries: Int)] {
        try database.rows(
            """
            SELECT logo_url, min(line), count(*) FROM incoming WHERE \(LogoURLs.isPlainName("logo_url", database))
            GROUP BY logo_url ORDER BY 2
            """
        ).map { ($0[0], $0[1], $0[2]) }
    }

    /// The result that a merge would have, without writing.
    func trial(into account: AccountID, replaces: Bool) throws -> Merged {
        let changed = try database.value(
            Int.self, "SELECT count(*) FROM incoming \(Self.known) WHERE \(Self.differs)", ["account": account.row])
        var merged = Merged(changed: changed ?? 0)
        merged.unchanged = try count() - merged.changed
        if replaces {
            let missing = "SELECT count(*) FROM brand_number WHERE account = ? AND \(Self.isMissing)"
            merged.deactivated = try database.value(Int.self, missing, [account.row]) ?? 0
        }
        return merged
    }

    /// Writes the differences, each with a change number; must run inside a transaction, as one step.
    ///
    /// Change numbers follow the numeric order of the table on disk; a random order takes many times as long.
    ///
    /// - Parameters:
    ///   - replaces: true deactivates every number of the account without an entry.
    ///   - now: seconds since 1970.
    func merge(into account: AccountID, replaces: Bool, now: Int64) throws -> Merged {
        var merged = Merged()
        let base = try ChangeCounter.lock(account, database)
        if database.dialect == .postgreSQL, try count() > Self.batchSize { try database.execute("ANALYZE incoming") }
        try mergeBrands(account, now: now)
        merged.changed = try database.execute(Self.mergeNumbers(), ["account": account.row, "now": now, "base": base])
        merged.unchanged = try count() - merged.changed
        try ChangeCounter.advance(account, by: merged.changed, database)
        if replaces {
            try Registrations.withdraw(where: Self.isWithoutEntry("registered_number"), [:], account, database)
            merged.deactivated = try ChangeCounter.apply(
                "active = FALSE, held = FALSE",
                where: Self.isMissing, [:], account, now: now, database)
        }
        return merged
    }

    /// Drops the table.
    func end() throws { try database.dropTemporaryTable("incoming") }

    /// A brand gets the name and logo of its last entry.
    ///
    /// Only a new brand gets the call reason, because each number may have its own.
    private func mergeBrands(_ account: AccountID, now: Int64) throws {
        try database.execute(
            """
            INSERT INTO brand (account, id, name, logo, reason, updated)
            SELECT :account, brand_id, name, logo_url, call_reason, :now
            FROM (\(Self.lastOfEachBrand)) AS last
            WHERE true \(Self.brandConflict)
            """, ["account": account.row, "now": now])
    }

    /// The ending of an insertion of brands: a known brand gets another name or logo.
    static let brandConflict = """
        ON CONFLICT (account, id) DO UPDATE SET name = excluded.name, logo = excluded.logo,
        updated = CASE WHEN brand.updated > excluded.updated THEN brand.updated ELSE excluded.updated END
        WHERE brand.name IS DISTINCT FROM excluded.name OR brand.logo IS DISTINCT FROM excluded.logo
        """

    /// The entries by brand, each the last of its brand.
    static let lastOfEachBrand =
        """
        SELECT brand_id, name, logo_url, call_reason FROM incoming
        WHERE line IN (SELECT max(line) FROM incoming GROUP BY brand_id)
        """

    /// The condition of a number that a replacement deactivates.
    static let isMissing = "(active OR held) AND \(isWithoutEntry("brand_number"))"

    /// The condition of a row of a table with numbers, whose number has no entry.
    ///
    /// PostgreSQL reads `incoming` once for it. For `NOT IN` with a million entries it would read it once for each number.
    static func isWithoutEntry(_ table: String) -> String {
        "NOT EXISTS (SELECT 1 FROM incoming WHERE incoming.number = \(table).number)"
    }

    /// The condition of an entry that differs from the account's number, named `known`.
    static let differs = """
        (known.number IS NULL OR known.name IS DISTINCT FROM incoming.name OR known.brand_id IS DISTINCT FROM incoming.brand_id
            OR known.logo_url IS DISTINCT FROM incoming.logo_url OR known.call_reason IS DISTINCT FROM incoming.call_reason
            OR NOT (known.active OR known.held))
        """

    /// The account's number of an entry.
    private static let known =
        "LEFT JOIN brand_number AS known ON known.account = :account AND known.number = incoming.number"

    /// The statement that writes entries with their differences.
    ///
    /// - Parameter range: a condition on `incoming.number` that chooses entries.
    static func mergeNumbers(_ range: String = "true") -> String {
        """
        INSERT INTO brand_number
            (account, number, name, brand_id, logo_url, call_reason, updated, active, held, change)
        SELECT :account, incoming.number, incoming.name, incoming.brand_id, incoming.logo_url, incoming.call_reason,
            :now, owner = 'active', owner <> 'active', :base + row_number() OVER (ORDER BY incoming.number)
        FROM incoming JOIN brand ON brand.account = :account AND brand.id = incoming.brand_id \(known)
        WHERE \(range) AND \(differs)
        ON CONFLICT (account, number) DO UPDATE SET name = excluded.name, brand_id = excluded.brand_id,
            logo_url = excluded.logo_url, call_reason = excluded.call_reason,
            updated = CASE WHEN brand_number.updated > excluded.updated THEN brand_number.updated ELSE excluded.updated END,
            active = excluded.active, held = excluded.held,
            change = excluded.change
        """
    }
}
