// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Foundation

/// The account, key and device that a request belongs to.
package struct Caller: Hashable, Sendable {
    package let account: AccountID
    /// The hash of the API key.
    package let keyHash: Data
    /// The device of an access token; nil for a request with the key itself.
    package var device: String?
    /// The secret that signs the key's requests; nil for a key without signatures.
    package let signing: SigningKey?
    package var kind = KeyKind.gateway

    /// Finds the owner of device tokens issued to a key, through its successors once it was rotated and has ended.
    static func ofTokens(keyHash: Data, now: Int64, _ database: any SQLConnection) throws -> Caller? {
        if let caller = try ofKey(hash: keyHash, now: now, database) { return caller }
        let good = try database.value(
            Data.self,
            """
            WITH RECURSIVE line (hash, successor, revoked, expires) AS (
                SELECT hash, successor, revoked, expires FROM api_key WHERE hash = ?1
                UNION SELECT next.hash, next.successor, next.revoked, next.expires
                FROM line JOIN api_key AS next ON next.hash = line.successor WHERE line.revoked IS NULL)
            SELECT hash FROM line WHERE revoked IS NULL AND (expires IS NULL OR expires > ?2)
            """, [keyHash, now])
        return try good.flatMap { try ofKey(hash: $0, now: now, database) }
    }

    static func ofKey(hash: Data, now: Int64, _ database: any SQLConnection) throws -> Caller? {
        let statement = """
            SELECT account, kind, api_id, secret FROM api_key LEFT JOIN key_signing ON key_hash = hash
            WHERE hash = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)
            """
        return try database.row(statement, [hash, now]).map { Caller($0, hash: hash) }
    }
}

extension Caller {
    /// The caller of a row of `api_key` with its signing secret.
    init(_ row: SQLRow, hash: Data) {
        let id: String? = row["api_id"]
        self.init(
            account: AccountID(row: row["account"]), keyHash: hash,
            signing: id.map { SigningKey(id: $0, secret: row["secret"]) },
            kind: KeyKind(rawValue: row["kind"]) ?? .phone)
    }
}

/// The form in which the database keeps a secret.
package enum SecretHash {
    package static func of(_ text: String) -> Data { Data(SHA256.hash(data: Data(text.utf8))) }
}
