// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Crypto
package import Foundation
import Primitives

/// Uploaded logos: the names are in the database, the bytes in a `ByteStore` under the hash of their contents.
///
/// Only PNG and JPEG are stored, detected by the first bytes; `LogoIntake` makes them of other formats. Metadata of a
/// picture, such as its location, is removed.
package struct LogoStore: Sendable {
    /// Largest logo, in bytes.
    package static let limit = 1 << 20

    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// A logo in a list.
    package struct Logo: Codable, Hashable, Sendable {
        package let name: String
        package let type: String
        /// Bytes.
        package let size: Int
        /// SHA-256 of the bytes, in hexadecimal digits.
        package let hash: String
        /// ISO 8601.
        package let created: String

        package enum CodingKeys: String, CodingKey {
            case name, type, size
            case hash = "sha256"
            case created = "created_at"
        }
    }

    /// Stores a logo, in place of one with the same name.
    ///
    /// - Parameters:
    ///   - name: a plain file name, as in `logo_url` of a brand.
    ///   - thumbnail: its small copy, which has a name of its own; see `LogoThumbnail`.
    ///   - now: seconds since 1970.
    /// - Throws: `LogoStoreError`, or an error of the database or the file system.
    @discardableResult
    package func add(_ data: Data, name: String, thumbnail: Data? = nil, now: Int64) throws -> Logo {
        guard LogoRules.isPlainName(name) else { throw LogoStoreError.badName }
        guard data.count <= Self.limit else { throw LogoStoreError.tooLarge }
        guard let type = LogoRules.contentType(data) else { throw LogoStoreError.badType }
        let data = Data(PictureMetadata.removed(from: [UInt8](data)))
        let hash = Hexadecimal.text(SHA256.hash(data: data))
        let copy = LogoThumbnail.name(of: name).flatMap(LogoThumbnail.row)
        let before = try database.pool.write { [bytes = database.bytes] database in
            let before = try [name, copy].compactMap { try $0.flatMap { try Self.row($0, database) }?.hash }
            try Self.put(data, as: name, now, bytes, database)
            if let copy, let thumbnail {
                try Self.put(thumbnail, as: copy, now, bytes, database)
            } else if let copy {
                try database.execute("DELETE FROM logo WHERE name = ?", [copy])
            }
            return before
        }
        for hash in before { try removeFile(hash) }
        return Logo(name: name, type: type, size: data.count, hash: hash, created: Timestamp.string(from: now))
    }

    private static func put(
        _ data: Data, as name: String, _ now: Int64, _ bytes: any ByteStore, _ database: any SQLConnection
    ) throws {
        let hash = Hexadecimal.text(SHA256.hash(data: data))
        try bytes.addLogo(data, hash: hash, database)
        try database.execute(
            """
            INSERT INTO logo (name, hash, type, size, created) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, type = excluded.type, size = excluded.size,
            created = excluded.created
            """, [name, hash, LogoRules.contentType(data), data.count, now])
    }

    /// Removes a logo that no brand and no active or held number names.
    ///
    /// - Throws: `LogoStoreError`, or an error of the database.
    package func remove(_ name: String) throws {
        let copy = LogoThumbnail.name(of: name).flatMap(LogoThumbnail.row)
        let hashes = try database.pool.write { database in
            guard LogoRules.isPlainName(name), let logo = try Self.row(name, database) else {
                throw LogoStoreError.unknown(
                    name, similar: try SimilarName(database).of(name, "SELECT name FROM logo WHERE \(Self.isNoCopy)"))
            }
            let thumbnail = try copy.flatMap { try Self.row($0, database) }
            let isUsed = try database.exists(
                """
                SELECT 1 FROM brand WHERE logo = ?1 UNION ALL
                SELECT 1 FROM brand_number WHERE logo_url = ?1 AND (active OR held) LIMIT 1
                """, [name])
            if isUsed { throw LogoStoreError.inUse(name) }
            for name in [name, copy].compactMap({ $0 }) {
                try database.execute("DELETE FROM logo WHERE name = ?", [name])
            }
            return [logo, thumbnail].compactMap { $0?.hash }
        }
        for hash in hashes { try removeFile(hash) }
    }

    /// An SQL condition that is true for logos, and false for their small copies.
    private static let isNoCopy = "name NOT LIKE '.%'"

    /// All logos by name, without their small copies.
    package func all() throws -> [Logo] {
        try database.pool.read {
            try $0.rows("SELECT * FROM logo WHERE \(Self.isNoCopy) ORDER BY name").map(Self.logo)
        }
    }

    /// The small copy of a logo, by the copy's own name; nil without one.
    package func thumbnail(_ name: String) async throws -> (logo: Logo, data: Data)? {
        guard let row = LogoThumbnail.row(of: name) else { return nil }
        return try await find(row)
    }

    /// A logo and its bytes; nil without one of that name.
    package func find(_ name: String) async throws -> (logo: Logo, data: Data)? {
        guard database.bytes.mayHaveLogos, let logo = try await database.pool.read({ try Self.row(name, $0) }),
            let data = try await database.bytes.logo(logo.hash)
        else { return nil }
        return (logo, data)
    }

    /// The hash of each logo by its name; logos with missing bytes are left out.
    func hashes(_ database: any SQLConnection) throws -> [String: String] {
        guard self.database.bytes.mayHaveLogos else { return [:] }
        let rows = try database.rows("SELECT name, hash FROM logo WHERE \(Self.isNoCopy)")
        let present = try self.database.bytes.presentLogos(Set(rows.map { $0[1] as String }), database)
        return rows.reduce(into: [:]) { hashes, row in
            let hash: String = row[1]
            if present.contains(hash) { hashes[row[0]] = hash }
        }
    }

    /// Removes a file that no logo names any more.
    ///
    /// It runs after the commit, because a rollback would restore the old row.
    ///
    /// It has a transaction of its own, so that no logo with the same bytes is added meanwhile.
    private func removeFile(_ hash: String) throws {
        try database.pool.write { [bytes = database.bytes] database in
            let isNamed = try database.exists("SELECT 1 FROM logo WHERE hash = ?", [hash])
            if !isNamed { try bytes.removeLogo(hash, database) }
        }
    }

    private static func row(_ name: String, _ database: any SQLConnection) throws -> Logo? {
        try database.row("SELECT * FROM logo WHERE name = ?", [name]).map(logo)
    }

    private static func logo(_ row: SQLRow) -> Logo {
        Logo(
            name: row["name"], type: row["type"], size: row["size"], hash: row["hash"],
            created: Timestamp.string(from: row["created"]))
    }
}

/// Refusals of a logo, or of its removal.
package enum LogoStoreError: OperatorError, Hashable {
    case badName
    case badType
    case tooLarge
    case unknown(String, similar: String? = nil)
    case inUse(String)

    package var kind: OperatorMistakeKind {
        switch self {
        case .badName, .badType, .tooLarge: .invalid
        case .unknown: .missing
        case .inUse: .conflict
        }
    }

    package var description: String {
        switch self {
        case .badName: "a logo's name has 1 to 128 letters, digits, dots, dashes and underscores, no dot first"
        case .badType: "a stored logo is a PNG or a JPEG"
        case .tooLarge: "a logo has at most \(LogoStore.limit) bytes"
        case .unknown(let name, let similar):
            "there is no logo \"\(name)\"\(SimilarName.hint(similar)); list the logos to see their names"
        case .inUse(let name): "a brand or a number uses \"\(name)\"; give it another logo first"
        }
    }
}
