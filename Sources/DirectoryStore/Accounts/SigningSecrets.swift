// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Which API keys sign their requests, and with what.
///
/// The secret is kept readable in `directory.sqlite`: an HMAC cannot be checked with a hash of its key. The file is
/// readable by the directory's user and group only; whoever copies it can sign, though not without the API key beside it.
package struct SigningSecrets: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// What a client signs with; seen this once.
    package struct Secret: Sendable {
        /// Public; goes into `X-Api-Id`.
        package let id: String
        package let secret: String
    }

    /// Makes the requests of a key need a signature from now on; a key that had a secret gets a new one.
    package func create(forKey key: String) throws -> Secret {
        let made = Secret(id: Hexadecimal.secret("hid_", bytes: 8), secret: Hexadecimal.secret("hds_"))
        try database.pool.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO key_signing (key_hash, api_id, secret) VALUES (?, ?, ?)",
                arguments: [SecretHash.of(key), made.id, Data(made.secret.utf8)])
        }
        return made
    }

    /// What requests of a key are signed with; nil where they are not.
    package func find(forKey key: String) throws -> Secret? {
        try database.pool.read { database in
            try Row.fetchOne(
                database, sql: "SELECT api_id, secret FROM key_signing WHERE key_hash = ?",
                arguments: [SecretHash.of(key)]
            ).map { Secret(id: $0["api_id"], secret: String(decoding: $0["secret"] as Data, as: UTF8.self)) }
        }
    }
}
