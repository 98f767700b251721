// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import Foundation
import GRDB
import Synchronization

/// The gateway's copies of logos: rows in `brands.sqlite`, files in the folder `logos` beside it.
///
/// A row belongs to a URL, a file to the hash of a picture, so many URLs may share a file. A file is written before its
/// row and removed after it. `prepare` removes files without a row after a crash.
package struct LogoCacheStore: LogoCache {
    /// Limits of the store and the form in Call-Info.
    package struct Settings: Hashable, Sendable {
        package var forms: LogoForms
        package var publicURL: String
        package var missing: HostedLogos.Missing
        /// Bytes of all files; above it the least recently used are removed.
        package var maxTotal = 256 << 20
        /// Seconds that a file stays after its last brand, because a phone may still show it.
        package var grace: Int64 = 7 * 86_400
        /// Most fetched URLs; a hostile directory could name millions.
        package var maxLogos = 20_000

        package init(forms: LogoForms, publicURL: String, missing: HostedLogos.Missing) {
            self.forms = forms
            self.publicURL = publicURL
            self.missing = missing
        }
    }

    private let source: BrandSource
    var database: any DatabaseWriter { source.database }
    let folder: LogoCacheFolder
    /// The settings in force.
    var settings: Settings { settingsInForce.current.withLock { $0 } }
    private let settingsInForce: SettingsInForce
    private let clock: QueueClock

    /// Uses the brand file of a store, which must stay open while logos are fetched.
    package init(
        _ brands: BrandCacheStore, stateFolder: String, settings: Settings, clock: QueueClock = QueueClock()
    ) {
        self.clock = clock
        source = brands.source
        folder = LogoCacheFolder(stateFolder: stateFolder)
        settingsInForce = SettingsInForce(settings)
    }

    /// Applies other settings, to every copy of this value.
    package func use(_ settings: Settings) { settingsInForce.current.withLock { $0 = settings } }

    /// The settings that all copies of a store share.
    private final class SettingsInForce: Sendable {
        let current: Mutex<Settings>

        init(_ settings: Settings) { current = Mutex(settings) }
    }

    package func prepare(now: Int64) async throws {
        try folder.prepare()
        let there = folder.names
        let forms = settings.forms.keys
        let known = try await database.change { database in
            let names = try String.fetchSet(database, sql: "SELECT name FROM logo_file")
            for name in names.subtracting(there) {
                try database.execute(sql: "DELETE FROM logo_file WHERE name = ?", arguments: [name])
            }
            // The configured policy may have changed: refused URLs are tried again.
            try database.execute(
                sql: "UPDATE logo SET due_at = ? WHERE hash IS NULL AND status = 'failed'", arguments: [now])
            for form in forms {
                try database.execute(
                    sql: """
                        UPDATE logo SET hash = NULL, etag = NULL, last_modified = NULL, due_at = ?, status = 'new'
                        WHERE hash IS NOT NULL AND NOT EXISTS
                            (SELECT 1 FROM logo_file WHERE logo_file.hash = logo.hash AND form = ?)
                        """, arguments: [now, form])
            }
            return names.intersection(there)
        }
        folder.removeAll(but: known)
    }

    package func takeOver(now: Int64) async throws -> Int {
        let limit = settings.maxLogos
        let (named, count) = try await database.read { database in
            (
                try String.fetchSet(
                    database,
                    sql: "SELECT DISTINCT logo_url FROM brand WHERE logo_url IS NOT NULL ORDER BY 1 LIMIT ?",
                    arguments: [limit]),
                try Int.fetchOne(database, sql: "SELECT COUNT(DISTINCT logo_url) FROM brand") ?? 0
            )
        }
        try await database.change { database in
            let known = try String.fetchSet(database, sql: "SELECT url FROM logo")
            for url in named.subtracting(known) {
                try database.execute(sql: "INSERT INTO logo (url, due_at) VALUES (?, ?)", arguments: [url, now])
            }
            for url in known.subtracting(named) {
                try database.execute(sql: "DELETE FROM logo WHERE url = ?", arguments: [url])
            }
            try markNeed(in: database, now: now)
        }
        return max(0, count - limit)
    }

    package func due(limit: Int, now: Int64) async throws -> [DueLogo] {
        try await clock.follow(now: now) { behind in
            try await database.change { database in
                let sql = "UPDATE logo SET due_at = due_at - ? WHERE due_at > ?"
                try database.execute(sql: sql, arguments: [behind, now])
            }
        }
        return try await database.read { database in
            let sql = """
                SELECT url, etag, last_modified, failures, reason, hash FROM logo WHERE due_at <= ?
                ORDER BY due_at LIMIT ?
                """
            return try Row.fetchAll(database, sql: sql, arguments: [now, limit]).map { row in
                let hash: String? = row[5]
                return DueLogo(
                    url: row[0], etag: hash == nil ? nil : row[1], lastModified: hash == nil ? nil : row[2],
                    failures: row[3], reason: row[4])
            }
        }
    }

    package func record(_ result: LogoResult, of url: String, now: Int64, dueAt: Int64) async throws {
        try await remove { database in
            switch result {
            case .unchanged:
                try database.execute(
                    sql: """
                        UPDATE logo SET checked_at = ?, due_at = ?, failures = 0, status = 'ready', reason = NULL,
                            error = NULL WHERE url = ?
                        """, arguments: [now, dueAt, url])
            case .fetched(let hash, let etag, let lastModified):
                try database.execute(
                    sql: """
                        UPDATE logo SET hash = ?, etag = ?, last_modified = ?, fetched_at = ?, checked_at = ?,
                            due_at = ?, failures = 0, status = 'ready', reason = NULL, error = NULL WHERE url = ?
                        """, arguments: [hash, etag, lastModified, now, now, dueAt, url])
                try markNeed(in: database, now: now)
                return try freeSpace(in: database, keeping: hash, now: now)
            case .failed(let reason, let detail):
                try database.execute(
                    sql: """
                        UPDATE logo SET checked_at = ?, due_at = ?, failures = failures + 1, status = 'failed',
                            reason = ?, error = ? WHERE url = ?
                        """, arguments: [now, dueAt, reason, detail, url])
            }
            return []
        }
    }

    package func hosted() async throws -> HostedLogos {
        try await database.read { try Self.hosted(settings, in: $0) }
    }

    /// The map from the directory's URLs to files.
    ///
    /// A picture counts once all its forms are there, because a PBX may show any of them.
    static func hosted(_ settings: Settings, in database: Database) throws -> HostedLogos {
        let forms = settings.forms.keys
        let sql = """
            SELECT url, name FROM logo JOIN logo_file ON logo_file.hash = logo.hash
            WHERE form = ? AND (SELECT COUNT(*) FROM logo_file AS other WHERE other.hash = logo.hash
                AND other.form IN (\(databaseQuestionMarks(count: forms.count)))) = ?
            """
        var files: [String: String] = [:]
        let arguments = [settings.forms.shown] + StatementArguments(forms) + [forms.count]
        let rows = try Row.fetchCursor(database, sql: sql, arguments: arguments)
        while let row = try rows.next() { files[row[0]] = row[1] }
        return HostedLogos(publicURL: settings.publicURL, missing: settings.missing, files: files)
    }

    package func totals() async throws -> LogoTotals {
        try await database.read { database in
            var totals = LogoTotals()
            totals.known = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM logo") ?? 0
            totals.ready = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM logo WHERE hash IS NOT NULL") ?? 0
            let failed = try Row.fetchAll(
                database, sql: "SELECT reason, COUNT(*) FROM logo WHERE status = 'failed' GROUP BY reason")
            for row in failed { totals.failed[row[0] ?? "unknown"] = row[1] }
            let files = try Row.fetchOne(database, sql: "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM logo_file")
            totals.files = files?[0] ?? 0
            totals.bytes = files?[1] ?? 0
            return totals
        }
    }

    package func read(_ name: String) -> [UInt8]? { folder.read(name) }
}
