// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// Access tokens of registrars by OAuth 2.0 client credentials; the database keeps their hashes only.
///
/// The client identifier is the key's identifier in the list of keys, and the client secret is the key. A token is valid
/// for 15 minutes, and no longer than its key: a rotated key leaves its successor none. Source: RFC 6749 §4.4.
package struct ClientTokens: Sendable {
    private let database: DirectoryDatabase

    /// Seconds.
    package static let life: Int64 = 900
    /// Most tokens that are kept of one key.
    private static let kept = 256

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// Finds the holder of a client's identifier and secret; nil for wrong or expired ones.
    ///
    /// - Parameter now: seconds since 1970.
    package func client(_ id: String, secret: String, now: Int64) async throws -> Caller? {
        guard let caller = try await database.caller(ofKey: secret, now: now) else { return nil }
        return Hexadecimal.text(caller.keyHash.prefix(6)) == id.lowercased() ? caller : nil
    }

    /// Issues a token.
    ///
    /// - Parameters:
    ///   - scopes: without spaces in them.
    ///   - now: seconds since 1970.
    package func issue(_ scopes: [String], to caller: Caller, now: Int64) async throws -> String {
        let token = NewSecret.text("hdc_")
        try await database.pool.write(.locked) { database in
            try database.execute(
                """
                DELETE FROM client_token WHERE key_hash = ? AND (expires <= ? OR hash IN (
                    SELECT hash FROM client_token WHERE key_hash = ? ORDER BY expires DESC, hash
                    LIMIT \(Self.kept) OFFSET ?))
                """, [caller.keyHash, now, caller.keyHash, Self.kept - 1])
            try database.execute(
                "INSERT INTO client_token (hash, account, key_hash, scopes, expires) VALUES (?, ?, ?, ?, ?)",
                [
                    SecretHash.of(token), caller.account.row, caller.keyHash, scopes.joined(separator: " "),
                    now + Self.life,
                ])
        }
        return token
    }

    /// Finds the holder of a token and its scopes; nil for an unknown or expired token, and for one whose key has ended.
    ///
    /// - Parameter now: seconds since 1970.
    package func holder(of token: String, now: Int64) async throws -> (caller: Caller, scopes: Set<String>)? {
        let hash = SecretHash.of(token)
        let found = try await database.pool.read { database -> (caller: Caller, scopes: Set<String>)? in
            guard
                let row = try database.row(
                    "SELECT key_hash, scopes FROM client_token WHERE hash = ? AND expires > ?", [hash, now]),
                let caller = try Caller.ofKey(hash: row["key_hash"], now: now, database)
            else { return nil }
            let scopes: String = row["scopes"]
            return (caller, Set(scopes.split(separator: " ").map(String.init)))
        }
        if let found { database.keyUsage.record(found.caller.keyHash, now: now) }
        return found
    }
}
