// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Primitives

/// Keys of the operator's HTTP API.
///
/// API keys of accounts do not open it, and admin keys do not open the contract.
package struct AdminKeys: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// Creates a key and returns it; the database keeps a hash only.
    ///
    /// - Parameters:
    ///   - name: the operator's name for it; free again once its key is revoked.
    ///   - now: seconds since 1970.
    /// - Throws: `AccountStoreError`, or a database error.
    package func create(name: String, now: Int64) throws -> String {
        guard SecretKey.isName(name) else { throw AccountStoreError.badName }
        let key = NewSecret.text("hda_")
        try database.pool.write { database in
            let taken = try database.exists("SELECT 1 FROM admin_key WHERE name = ? AND revoked IS NULL", [name])
            if taken { throw AccountStoreError.nameTaken(name) }
            try database.execute(
                "INSERT INTO admin_key (hash, name, created) VALUES (?, ?, ?)", [SecretHash.of(key), name, now])
        }
        return key
    }

    /// Revokes a key at once; false without a valid key of that name or identifier.
    package func revoke(_ reference: String, now: Int64) throws -> Bool {
        try database.pool.write { database in
            try database.execute(
                """
                UPDATE admin_key SET revoked = ?1 WHERE (name = ?2 OR \(SecretKey.idColumn(database)) = ?2)
                AND revoked IS NULL
                """, [now, reference]) > 0
        }
    }

    /// All keys, oldest first.
    package func all() throws -> [AccountStore.KeyRow] {
        try database.pool.read { database in
            try database.rows(
                """
                SELECT \(SecretKey.idColumn(database)) AS id, name, created, last_used, CAST(NULL AS BIGINT) AS expires, revoked
                FROM admin_key ORDER BY created, name
                """
            ).map(AccountStore.KeyRow.init)
        }
    }

    /// The identifier of a key in `all`, by which a session remembers it.
    package static func identifier(of key: String) -> String {
        Hexadecimal.text(SecretHash.of(key).prefix(6))
    }

    /// True for a key that was not revoked.
    package func isValid(identifier: String) async throws -> Bool {
        try await database.pool.read { database in
            try database.exists(
                "SELECT 1 FROM admin_key WHERE \(SecretKey.idColumn(database)) = ? AND revoked IS NULL", [identifier])
        }
    }

    /// The result of checking a request's key.
    package enum Verdict: Sendable {
        case valid
        case wrong
        /// The database has no valid admin key, so the API is closed.
        case noneExist
    }

    /// Checks a key, which may be missing; `now` is seconds since 1970.
    package func check(_ key: String?, now: Int64) async throws -> Verdict {
        let hash = SecretHash.of(key ?? "")
        let (isValid, isAny) = try await database.pool.read { database in
            (
                try database.exists("SELECT 1 FROM admin_key WHERE hash = ? AND revoked IS NULL", [hash]),
                try database.exists("SELECT 1 FROM admin_key WHERE revoked IS NULL LIMIT 1")
            )
        }
        guard isValid else { return isAny ? .wrong : .noneExist }
        database.keyUsage.record(hash, now: now)
        return .valid
    }
}
