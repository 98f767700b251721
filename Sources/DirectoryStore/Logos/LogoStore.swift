// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Crypto
package import Foundation
import Primitives

/// Uploaded logos: the names are in the database, the bytes in a `ByteStore` under the hash of their contents.
///
/// Only PNG and JPEG are accepted, detected by the first bytes. SVG is refused: it can contain scripts and fetch other
/// resources, and SIP phones do not show it. Metadata of a picture, such as its location, is removed.
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
    ///   - now: seconds since 1970.
    /// - Throws: `LogoStoreError`, or an error of the database or the file system.
    @discardableResult
    package func add(_ data: Data, name: String, now: Int64) throws -> Logo {
        guard LogoRules.isPlainName(name) else { throw LogoStoreError.badName }
        guard data.count <= Self.limit else { throw LogoStoreError.tooLarge }
        guard let type = LogoRules.contentType(data) else { throw LogoStoreError.badType }
        let data = Data(PictureMetadata.removed(from: [UInt8](data)))
        let hash = Hexadecimal.text(SHA256.hash(data: data))
        let (logo, before) = try database.pool.write { [bytes = database.bytes] database in
            let before = try Self.row(name, database)
            try bytes.addLogo(data, hash: hash, database)
            try database.execute(
                """
                INSERT INTO logo (name, hash, type, size, created) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, type = excluded.type, size = excluded.size,
                created = excluded.created
                """, [name, hash, type, data.count, now])
            let logo = Logo(
                name: name, type: type, size: data.count, hash: hash, created: Timestamp.string(from: now))
            return (logo, before)
        }
        if let before { try removeFile(before.hash) }
        return logo
    }

    /// Removes a logo that no brand and no active or held number names.
    ///
    /// - Throws: `LogoStoreError`, or an error of the database.
    package func remove(_ name: String) throws {
        let logo = try database.pool.write { database in
            guard let logo = try Self.row(name, database) else {
                throw LogoStoreError.unknown(
                    name, similar: try SimilarName(database).of(name, "SELECT name FROM logo"))
            }
            let isUsed = try database.exists(
                """
                SELECT 1 FROM brand WHERE logo = ?1 UNION ALL
                SELECT 1 FROM brand_number WHERE logo_url = ?1 AND (active OR held) LIMIT 1
                """, [name])
            if isUsed { throw LogoStoreError.inUse(name) }
            try database.execute("DELETE FROM logo WHERE name = ?", [name])
            return logo
        }
        try removeFile(logo.hash)
    }

    /// All logos by name.
    package func all() throws -> [Logo] {
        try database.pool.read { try $0.rows("SELECT * FROM logo ORDER BY name").map(Self.logo) }
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
        let rows = try database.rows("SELECT name, hash FROM logo")
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
        case .badType: "a logo is a PNG or a JPEG; an SVG is not taken, because it can carry scripts"
        case .tooLarge: "a logo has at most \(LogoStore.limit) bytes"
        case .unknown(let name, let similar):
            "there is no logo \"\(name)\"\(SimilarName.hint(similar)); list the logos to see their names"
        case .inUse(let name): "a brand or a number uses \"\(name)\"; give it another logo first"
        }
    }
}
