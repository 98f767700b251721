// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB

// Files of logos: present, needed and surplus ones.

extension LogoCacheStore {
    /// Seconds until an evicted logo is fetched again.
    private static let rest: Int64 = 7 * 86_400

    package func has(hash: String) async throws -> Bool {
        let forms = Set(settings.forms.keys)
        return try await database.read { database in
            let there = try String.fetchSet(
                database, sql: "SELECT form FROM logo_file WHERE hash = ?", arguments: [hash])
            return forms.isSubset(of: there)
        }
    }

    package func store(hash: String, _ files: [LogoFile], now: Int64) async throws {
        for file in files { try folder.write(file.bytes, to: file.name) }
        try await database.change { database in
            for file in files {
                try database.execute(
                    sql: """
                        INSERT INTO logo_file (name, hash, form, bytes, used_at) VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes, used_at = excluded.used_at,
                            unneeded_at = NULL
                        """, arguments: [file.name, hash, file.form, file.bytes.count, now])
            }
        }
    }

    package func recordUse(of names: [String], now: Int64) async throws {
        guard !names.isEmpty else { return }
        try await database.change { database in
            for name in names {
                try database.execute(sql: "UPDATE logo_file SET used_at = ? WHERE name = ?", arguments: [now, name])
            }
        }
    }

    package func tidy(now: Int64) async throws {
        try await remove { database in
            try markNeed(in: database, now: now)
            let sql = "DELETE FROM logo_file WHERE unneeded_at <= ? RETURNING name"
            return try String.fetchAll(database, sql: sql, arguments: [now - settings.grace])
                + freeSpace(in: database, keeping: nil, now: now)
        }
    }

    /// Makes logos due at once, to be received anew whatever their server has reported before.
    ///
    /// - Parameters:
    ///   - url: the only logo; nil for all.
    ///   - clears: removes the copies too, also those of pictures that no brand names any more.
    /// - Returns: the number of logos.
    package func renew(_ url: String?, clears: Bool, now: Int64) async throws -> Int {
        let (count, names) = try await database.write { database in
            let which = url == nil ? "1" : "url = ?"
            let arguments = StatementArguments(url.map { [$0] } ?? [])
            var names: [String] = []
            if clears {
                let hashes = try String.fetchAll(
                    database, sql: "SELECT DISTINCT hash FROM logo WHERE hash IS NOT NULL AND \(which)",
                    arguments: arguments)
                try database.execute(
                    sql: "UPDATE logo SET hash = NULL, status = 'new' WHERE \(which)", arguments: arguments)
                let surplus =
                    url == nil
                    ? "1"
                    : "hash IN (\(databaseQuestionMarks(count: hashes.count)))"
                        + " AND NOT EXISTS (SELECT 1 FROM logo WHERE logo.hash = logo_file.hash)"
                names = try String.fetchAll(
                    database, sql: "DELETE FROM logo_file WHERE \(surplus) RETURNING name",
                    arguments: StatementArguments(url == nil ? [] : hashes))
            }
            try database.execute(
                sql: """
                    UPDATE logo SET etag = NULL, last_modified = NULL, failures = 0, due_at = ? WHERE \(which)
                    """, arguments: [now] + arguments)
            return (database.changesCount, names)
        }
        for name in names { folder.remove(name) }
        return count
    }

    /// Marks files since when no brand needs them, and clears the mark of needed files.
    func markNeed(in database: Database, now: Int64) throws {
        let forms = settings.forms.keys
        let marks = databaseQuestionMarks(count: forms.count)
        let isNeeded = "form IN (\(marks)) AND hash IN (SELECT hash FROM logo WHERE hash IS NOT NULL)"
        try database.execute(
            sql: "UPDATE logo_file SET unneeded_at = NULL WHERE unneeded_at IS NOT NULL AND \(isNeeded)",
            arguments: StatementArguments(forms))
        try database.execute(
            sql: "UPDATE logo_file SET unneeded_at = ? WHERE unneeded_at IS NULL AND NOT (\(isNeeded))",
            arguments: [now] + StatementArguments(forms))
    }

    /// Runs a transaction that returns surplus files, then removes them.
    func remove(_ change: @escaping @Sendable (Database) throws -> [String]) async throws {
        for name in try await database.write(change) { folder.remove(name) }
    }

    /// Forgets files above the limit: unneeded ones first, then the least recently used, a picture at a time.
    ///
    /// - Parameter hash: the picture that was just stored; it stays, so that a full store does not fetch in a circle.
    func freeSpace(in database: Database, keeping hash: String?, now: Int64) throws -> [String] {
        var total = try Int.fetchOne(database, sql: "SELECT COALESCE(SUM(bytes), 0) FROM logo_file") ?? 0
        guard total > settings.maxTotal else { return [] }
        let sql = """
            SELECT hash, SUM(bytes) FROM logo_file WHERE hash IS NOT ? GROUP BY hash
            ORDER BY MIN(unneeded_at IS NULL), MAX(used_at)
            """
        var removed: [String] = []
        for row in try Row.fetchAll(database, sql: sql, arguments: [hash]) {
            guard total > settings.maxTotal else { break }
            let old: String = row[0]
            removed += try String.fetchAll(
                database, sql: "DELETE FROM logo_file WHERE hash = ? RETURNING name", arguments: [old])
            try database.execute(
                sql: """
                    UPDATE logo SET hash = NULL, etag = NULL, last_modified = NULL, status = 'evicted', due_at = ?
                    WHERE hash = ?
                    """, arguments: [now + Self.rest, old])
            total -= row[1]
        }
        return removed
    }
}
