// SPDX-License-Identifier: Apache-2.0

package import Branding
import GRDB

/// Lists logos for the operator, also beside a running gateway.
package struct LogoReader: Sendable {
    private let database: any DatabaseReader
    private let files: LogoCacheFolder

    /// Opens the rows in a gateway's state folder.
    ///
    /// - Throws: `HeraldDatabaseError` without rows, or for rows of an older or newer program.
    package init(folder: String) throws(HeraldDatabaseError) {
        database = try HeraldDatabase.brandsReader(folder: folder)
        files = LogoCacheFolder(stateFolder: folder)
    }

    /// The bytes of a copy; nil for an invalid or unknown name.
    package func file(_ name: String) -> [UInt8]? { files.read(name) }

    /// The URLs for Call-Info, by the same settings as the store.
    package func hosted(_ settings: LogoCacheStore.Settings) throws -> HostedLogos {
        try database.read { try LogoCacheStore.hosted(settings, in: $0) }
    }

    /// The error of the last fetch of a logo; nil for a success and without a fetch.
    package func problem(of url: String) throws -> String? {
        try database.read { try String.fetchOne($0, sql: "SELECT error FROM logo WHERE url = ?", arguments: [url]) }
    }

    /// The number of logos without a copy after a failed fetch, with one failure of each kind, the most frequent first.
    ///
    /// Nil if any logo has a copy.
    package func obstacles() throws -> [(count: Int, example: String)]? {
        try database.read { database in
            let hasCopy = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM logo WHERE hash IS NOT NULL)")
            guard hasCopy == false else { return nil }
            let sql = """
                SELECT COUNT(*), MIN(error) FROM logo WHERE status = 'failed' AND error IS NOT NULL
                GROUP BY reason ORDER BY 1 DESC, 2
                """
            return try Row.fetchAll(database, sql: sql).map { (count: $0[0], example: $0[1]) }
        }
    }

    /// The logos that brands name, by URL, with the number of their brands' telephone numbers.
    package func named(limit: Int) throws -> [NamedLogo] {
        try database.read { database in
            let sql = """
                SELECT logo_url, COUNT(*) FROM brand WHERE logo_url IS NOT NULL AND logo_url != ''
                GROUP BY logo_url ORDER BY logo_url LIMIT ?
                """
            return try Row.fetchAll(database, sql: sql, arguments: [limit]).map {
                NamedLogo(url: $0[0], numbers: $0[1])
            }
        }
    }

    /// Logos by URL, failures first.
    package func logos(limit: Int) throws -> [LogoRow] {
        try database.read { database in
            let sql = """
                SELECT url, hash, status, reason, error, failures, fetched_at, checked_at, due_at,
                    (SELECT SUM(bytes) FROM logo_file WHERE logo_file.hash = logo.hash),
                    (SELECT GROUP_CONCAT(name, ' ') FROM logo_file WHERE logo_file.hash = logo.hash)
                FROM logo ORDER BY status != 'failed', url LIMIT ?
                """
            return try Row.fetchAll(database, sql: sql, arguments: [limit]).map { row in
                let files: String? = row[10]
                return LogoRow(
                    url: row[0], hash: row[1], status: row[2], reason: row[3], error: row[4], failures: row[5],
                    fetchedAt: row[6], checkedAt: row[7], dueAt: row[8], bytes: row[9],
                    files: files.map { $0.split(separator: " ").map(String.init) } ?? [])
            }
        }
    }
}

/// A logo that brands name, without a copy.
package struct NamedLogo: Hashable, Sendable {
    package let url: String
    /// Telephone numbers whose brands name it.
    package let numbers: Int
}

/// One logo as the operator sees it; times in seconds since 1970.
package struct LogoRow: Hashable, Sendable {
    package let url: String
    /// SHA-256 of the received picture in hexadecimal; nil without a copy.
    package let hash: String?
    /// `new`, `ready`, `failed` or `evicted`.
    package let status: String
    /// Kind of the failure; nil after a success.
    package let reason: String?
    /// Text of the failure; nil after a success.
    package let error: String?
    package let failures: Int
    package let fetchedAt: Int64?
    package let checkedAt: Int64?
    package let dueAt: Int64
    /// Bytes of all its files; nil without files.
    package let bytes: Int?
    package let files: [String]
}
