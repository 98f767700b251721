// SPDX-License-Identifier: Apache-2.0

import Foundation

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

        init(_ database: any SQLConnection) throws {
            for row in try database.rows("SELECT name, stamp, hash, first FROM served_logo") {
                let (stamp, hash): (String?, String?) = (row[1], row[2])
                let file = stamp.flatMap { stamp in hash.map { LogoFolder.File(stamp: stamp, hash: $0) } }
                logos[row[0]] = Logo(file: file, first: row[3])
            }
            if let row = try database.row("SELECT signature, folder FROM served_from") {
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
            try database.values(
                String.self,
                "SELECT DISTINCT logo FROM brand WHERE \(LogoURLs.isPlainName("logo", database)) ORDER BY logo")
        }
    }

    /// Stores the present logos in one transaction, which also evaluates `now`.
    ///
    /// - Returns: how many numbers were moved.
    package static func replace(
        _ before: Content, by after: Content, now: @escaping @Sendable () -> Int64, in database: DirectoryDatabase
    ) async throws -> Int {
        try await database.pool.write(.locked) { try replace(before, by: after, now: now(), $0) }
    }

    /// Stores the present logos, and gives each number with a changed logo URL a new change number.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: how many numbers were moved.
    static func replace(_ before: Content, by after: Content, now: Int64, _ database: any SQLConnection) throws -> Int {
        // Every feed is locked first, in one order, as every change of a feed does.
        let accounts = try database.values(Int64.self, "SELECT id FROM account ORDER BY id").map(AccountID.init)
        for account in accounts { _ = try ChangeCounter.lock(account, database) }
        for (name, logo) in after.logos where before.logos[name] != logo {
            try database.execute(
                """
                INSERT INTO served_logo (name, stamp, hash, first) VALUES (?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp, hash = excluded.hash
                """, [name, logo.file?.stamp, logo.file?.hash, logo.first])
        }
        try database.execute(
            """
            INSERT INTO served_from (id, signature, folder) VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET signature = excluded.signature, folder = excluded.folder
            """, [after.signature, after.folder])
        let changed = after.logos.keys.filter { before.logos[$0]?.file?.hash != after.logos[$0]?.file?.hash }
        let isMoved = before.signature != after.signature
        guard isMoved || !changed.isEmpty else { return 0 }
        var count = 0
        for account in accounts {
            for (condition, names) in isMoved
                ? [(LogoURLs.isPlainName("logo_url", database), [])] : Self.groups(changed)
            {
                var arguments = SQLArguments()
                for (place, name) in names.enumerated() { arguments.named["name\(place)"] = .text(name) }
                count += try ChangeCounter.apply(
                    "active = active", where: "active AND \(condition)", arguments, account, now: now, database)
            }
        }
        return count
    }

    /// Most logos of one condition; each condition reads all numbers of an account.
    private static let groupSize = 1_000

    /// Conditions for the numbers with these logos, each with the names of its parameters.
    private static func groups(_ logos: [String]) -> [(condition: String, names: [String])] {
        let names = logos.sorted()
        return stride(from: 0, to: names.count, by: groupSize).map { start in
            let group = Array(names[start..<min(start + groupSize, names.count)])
            let places = group.indices.map { ":name\($0)" }.joined(separator: ", ")
            return ("logo_url IN (\(places))", group)
        }
    }
}
