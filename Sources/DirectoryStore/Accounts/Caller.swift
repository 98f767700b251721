// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Foundation
import GRDB

/// Whose request it is.
package struct Caller: Hashable, Sendable {
    package let account: AccountID
    /// Names the API key without being it.
    package let keyHash: Data
    /// The device of an access token; nil for a request with the key itself.
    package var device: String?
    /// With what requests must be signed; nil where the key asks for no signatures.
    package let signing: SigningKey?
    package var kind = KeyKind.gateway

    /// The owner of a key; nil when it is unknown, revoked or past its end.
    ///
    /// It is found by its hash, so that the time it takes tells nothing of other keys.
    package static func ofKey(_ key: String, now: Int64, in database: DirectoryDatabase) throws -> Caller? {
        let hash = SecretHash.of(key)
        let caller = try database.keys.read { try ofKey(hash: hash, now: now, $0) }
        if caller != nil { database.keyUsage.note(hash, now: now) }
        return caller
    }

    /// Whose tokens those are that were issued to a key: the key's owner, by its successor once it was rotated and ended.
    static func ofTokens(keyHash: Data, now: Int64, _ database: Database) throws -> Caller? {
        if let caller = try ofKey(hash: keyHash, now: now, database) { return caller }
        let good = try Data.fetchOne(
            database,
            sql: """
                WITH RECURSIVE line (hash, successor, revoked, expires) AS (
                    SELECT hash, successor, revoked, expires FROM api_key WHERE hash = ?1
                    UNION SELECT next.hash, next.successor, next.revoked, next.expires
                    FROM line JOIN api_key AS next ON next.hash = line.successor WHERE line.revoked IS NULL)
                SELECT hash FROM line WHERE revoked IS NULL AND (expires IS NULL OR expires > ?2)
                """, arguments: [keyHash, now])
        return try good.flatMap { try ofKey(hash: $0, now: now, database) }
    }

    static func ofKey(hash: Data, now: Int64, _ database: Database) throws -> Caller? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT account, kind, api_id, secret FROM api_key LEFT JOIN key_signing ON key_hash = hash
                WHERE hash = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)
                """)
        return try Row.fetchOne(statement, arguments: [hash, now]).map { row in
            let id: String? = row["api_id"]
            return Caller(
                account: AccountID(row: row["account"]), keyHash: hash,
                signing: id.map { SigningKey(id: $0, secret: row["secret"]) },
                kind: KeyKind(rawValue: row["kind"]) ?? .phone)
        }
    }
}

/// What is kept of a secret.
package enum SecretHash {
    package static func of(_ text: String) -> Data { Data(SHA256.hash(data: Data(text.utf8))) }
}
