// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import Foundation

/// Creates, lists, rotates and revokes the API keys of an account.
extension AccountStore {
    /// A key in a list, without the secret itself.
    package struct KeyRow: Codable, Hashable, Sendable {
        /// The first twelve digits of the key's hash; it identifies the key and does not help to guess it.
        package let id: String
        package let name: String
        /// Nil for an admin key.
        package var kind: KeyKind?
        /// ISO 8601.
        package let created: String
        /// ISO 8601, rounded down to five minutes; nil for an unused key.
        package let lastUsed: String?
        /// ISO 8601: the end of a rotated key; nil for a key without end.
        package let expires: String?
        /// ISO 8601; nil unless revoked.
        package let revoked: String?

        package enum CodingKeys: String, CodingKey {
            case id, name, kind
            case created = "created_at"
            case lastUsed = "last_used_at"
            case expires = "expires_at"
            case revoked = "revoked_at"
        }
    }

    /// Default seconds for which a rotated key stays valid beside its successor.
    package static let grace: Int64 = 86_400

    /// Creates a key and returns it; the database keeps a hash only.
    ///
    /// - Parameters:
    ///   - name: the operator's name for it; free again once its key is revoked.
    ///   - kind: the kind of client that holds it.
    ///   - now: seconds since 1970.
    /// - Throws: `AccountStoreError`, or a database error.
    package func createKey(name: String, kind: KeyKind = .gateway, now: Int64) throws -> String {
        guard SecretKey.isName(name) else { throw AccountStoreError.badName }
        let key = NewSecret.text("hd_")
        try database.pool.write { [account] database in
            let status = try database.value(String.self, "SELECT status FROM account WHERE id = ?", [account.row])
            if status == Self.closed { throw AccountStoreError.isClosed }
            let taken = try database.exists(
                "SELECT 1 FROM api_key WHERE account = ? AND name = ? AND revoked IS NULL AND expires IS NULL",
                [account.row, name])
            if taken { throw AccountStoreError.nameTaken(name) }
            try Self.insert(key, name, kind.rawValue, account, now: now, database)
        }
        return key
    }

    /// Creates a successor of the same name.
    ///
    /// The old key stays valid for a while, so that gateways can be changed one by one.
    ///
    /// If the old key signs its requests, the new key signs with the same secret. Tokens of devices stay valid with
    /// the new key, unless the old key ends at once. Tokens of registrars end with the old key.
    ///
    /// - Parameters:
    ///   - reference: the name, or the identifier of `KeyRow`.
    ///   - grace: seconds for which the old key stays valid; 0 ends it at once.
    ///   - now: seconds since 1970.
    /// - Returns: the new key, and the end of the old one.
    /// - Throws: `AccountStoreError`, or a database error.
    package func rotateKey(
        _ reference: String, grace: Int64 = AccountStore.grace, now: Int64
    ) throws -> (key: String, oldEnds: Int64) {
        let key = NewSecret.text("hd_")
        let ends = now + max(grace, 0)
        try database.pool.write { [account] database in
            let old = try database.row(
                """
                SELECT hash, name, kind FROM api_key WHERE account = ?1 AND (name = ?2 OR \(SecretKey.idColumn(database)) = ?2)
                AND revoked IS NULL AND expires IS NULL
                """, [account.row, reference])
            guard let old else { throw AccountStoreError.noKey(reference) }
            let (hash, name): (Data, String) = (old["hash"], old["name"])
            try database.execute(
                "UPDATE api_key SET expires = ?, successor = ? WHERE hash = ?", [ends, SecretHash.of(key), hash])
            try Self.insert(key, name, old["kind"], account, now: now, database)
            try database.execute(
                """
                INSERT INTO key_signing (key_hash, api_id, secret)
                SELECT ?, api_id, secret FROM key_signing WHERE key_hash = ?
                """, [SecretHash.of(key), hash])
            if grace <= 0 {
                try database.execute("DELETE FROM device_token WHERE key_hash = ?", [hash])
                try database.execute("DELETE FROM client_token WHERE key_hash = ?", [hash])
            }
        }
        return (key, ends)
    }

    /// Undoes a rotation whose new key was not delivered: removes the new key and the end of the old one.
    package func undoRotation(to key: String) throws {
        try database.pool.write { [account] database in
            let hash = SecretHash.of(key)
            try database.execute("DELETE FROM key_signing WHERE key_hash = ?", [hash])
            try database.execute("DELETE FROM api_key WHERE account = ? AND hash = ?", [account.row, hash])
            try database.execute(
                "UPDATE api_key SET expires = NULL, successor = NULL WHERE account = ? AND successor = ?",
                [account.row, hash])
        }
    }

    /// Revokes a key at once; false without a valid key of that name or identifier.
    ///
    /// A name revokes the key and a predecessor that is still valid; an identifier revokes one key.
    package func revokeKey(name reference: String, now: Int64) throws -> Bool {
        try database.pool.write { [account] database in
            try database.execute(
                """
                UPDATE api_key SET revoked = ?1 WHERE account = ?2 AND (name = ?3 OR \(SecretKey.idColumn(database)) = ?3)
                AND revoked IS NULL AND (expires IS NULL OR expires > ?1)
                """, [now, account.row, reference]) > 0
        }
    }

    /// All keys, oldest first.
    package func keys() throws -> [KeyRow] {
        try database.pool.read { [account] database in
            try database.rows(
                """
                SELECT \(SecretKey.idColumn(database)) AS id, name, kind, created, last_used, expires, revoked FROM api_key
                WHERE account = ? ORDER BY created, name
                """, [account.row]
            ).map { row in
                var key = KeyRow(row)
                key.kind = KeyKind(rawValue: row["kind"])
                return key
            }
        }
    }

    private static func insert(
        _ key: String, _ name: String, _ kind: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws {
        try database.execute(
            "INSERT INTO api_key (hash, account, name, kind, created) VALUES (?, ?, ?, ?, ?)",
            [SecretHash.of(key), account.row, name, kind, now])
    }
}

extension AccountStore.KeyRow {
    /// Reads a row of `api_key` or `admin_key`.
    init(_ row: SQLRow) {
        func time(_ column: String) -> String? { (row[column] as Int64?).map(Timestamp.string) }
        self.init(
            id: row["id"], name: row["name"], created: Timestamp.string(from: row["created"]),
            lastUsed: time("last_used"), expires: time("expires"), revoked: time("revoked"))
    }
}

/// Keys of 256 random bits; the database keeps their hash only.
enum SecretKey {
    /// The public identifier of a row with a hash: its first twelve hexadecimal digits.
    ///
    /// - Parameter table: the name of its table in a query over several.
    static func idColumn(_ database: any SQLConnection, table: String? = nil) -> String {
        database.dialect.digits(of: table.map { "\($0).hash" } ?? "hash", bytes: 6)
    }

    /// True for 1 to 64 characters without control characters.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.count)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
