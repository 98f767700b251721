// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// The logos that the server served last, kept across runs in `directory.sqlite`.
package enum ServedLogoTable {
    /// The stamp of an uploaded logo.
    package static let upload = "upload"
    /// The prefix of the signature for files on another server.
    package static let elsewhere = "elsewhere "

    /// A present or former logo.
    package struct Logo: Hashable, Sendable {
        /// Nil for a former logo.
        package var file: LogoFolder.File?
        /// The hash of the first contents under this name; their URL has no version.
        package let first: String
    }

    /// The whole table.
    package struct Content: Hashable, Sendable {
        package var logos: [String: Logo] = [:]
        /// The common prefix of logo URLs.
        package var signature = ""
        package var folder: String?

        init(_ database: Database) throws {
            for row in try Row.fetchAll(database, sql: "SELECT name, stamp, hash, first FROM served_logo") {
                let (stamp, hash): (String?, String?) = (row[1], row[2])
                let file = stamp.flatMap { stamp in hash.map { LogoFolder.File(stamp: stamp, hash: $0) } }
                logos[row[0]] = Logo(file: file, first: row[3])
            }
            if let row = try Row.fetchOne(database, sql: "SELECT signature, folder FROM served_from") {
                (signature, folder) = (row[0], row[1])
            }
        }

        /// A copy with the present logos.
        package func taking(_ files: [String: LogoFolder.File], folder: String?) -> Content {
            var content = self
            content.folder = folder
            for name in logos.keys { content.logos[name]?.file = nil }
            for (name, file) in files { content.logos[name] = Logo(file: file, first: logos[name]?.first ?? file.hash) }
            return content
        }
    }

    /// Compares the served logos with the present ones, within one read of the database.
    ///
    /// - Parameter compare: gets the whole table, and the hashes of uploaded logos by name.
    package static func compared<Value: Sendable>(
        in database: DirectoryDatabase,
        _ compare: @escaping @Sendable (_ before: Content, _ uploads: [String: String]) throws -> Value
    ) async throws -> Value {
        let store = LogoStore(database)
        return try await database.pool.read { try compare(try Content($0), try store.hashes($0)) }
    }

    /// The plain file names that brands have as logos, in order.
    package static func namesInBrands(of database: DirectoryDatabase) async throws -> [String] {
        try await database.pool.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT DISTINCT logo FROM brand WHERE \(LogoURLs.isPlainName("logo")) ORDER BY logo")
        }
    }

    /// Stores the present logos in one transaction, which also evaluates `now`.
    ///
    /// - Returns: how many numbers were moved.
    package static func replace(
        _ before: Content, by after: Content, now: @escaping @Sendable () -> Int64, in database: DirectoryDatabase
    ) async throws -> Int {
        try await database.pool.write { try replace(before, by: after, now: now(), $0) }
    }

    /// Stores the present logos, and gives each number with a changed logo URL a new change number.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: how many numbers were moved.
    static func replace(_ before: Content, by after: Content, now: Int64, _ database: Database) throws -> Int {
        for (name, logo) in after.logos where before.logos[name] != logo {
            try database.execute(
                sql: """
                    INSERT INTO served_logo (name, stamp, hash, first) VALUES (?, ?, ?, ?)
                    ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp, hash = excluded.hash
                    """, arguments: [name, logo.file?.stamp, logo.file?.hash, logo.first])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO served_from (id, signature, folder) VALUES (1, ?, ?)",
            arguments: [after.signature, after.folder])
        let changed = after.logos.keys.filter { before.logos[$0]?.file?.hash != after.logos[$0]?.file?.hash }
        let isMoved = before.signature != after.signature
        guard isMoved || !changed.isEmpty else { return 0 }
        let names = String(decoding: try JSONEncoder().encode(changed.sorted()), as: UTF8.self)
        let condition =
            isMoved ? LogoURLs.isPlainName("logo_url") : "logo_url IN (SELECT value FROM json_each(:names))"
        return try Int64.fetchAll(database, sql: "SELECT id FROM account ORDER BY id").reduce(0) { count, account in
            try count
                + ChangeCounter.apply(
                    "active = active", where: "active = 1 AND \(condition)", isMoved ? [:] : ["names": names],
                    AccountID(row: account), now: now, database)
        }
    }
}
