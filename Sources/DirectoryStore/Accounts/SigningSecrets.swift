// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// The secrets with which API keys sign their requests.
///
/// The secret is readable in `directory.sqlite`, because an HMAC cannot be checked with a hash of its key. Only the
/// directory's user and group can read the file. A copy of it allows signing, but requests also need the API key.
package struct SigningSecrets: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// A signing secret and its public id.
    package struct Secret: Sendable, Redacted {
        /// Public; the value of `X-Api-Id`.
        package let id: String
        package let secret: String
    }

    /// Requires signatures on the requests of a key from now on, and replaces an earlier secret.
    package func create(forKey key: String) throws -> Secret {
        let made = Secret(id: NewSecret.text("hid_", bytes: 8), secret: NewSecret.text("hds_"))
        try database.pool.write { database in
            try database.execute(
                "INSERT INTO key_signing (key_hash, api_id, secret) VALUES (?, ?, ?) ON CONFLICT (key_hash) DO UPDATE SET api_id = excluded.api_id, secret = excluded.secret",
                [SecretHash.of(key), made.id, Data(made.secret.utf8)])
        }
        return made
    }

    /// The secret of a key; nil for a key without signatures.
    package func find(forKey key: String) throws -> Secret? {
        try database.pool.read { database in
            try database.row(
                "SELECT api_id, secret FROM key_signing WHERE key_hash = ?", [SecretHash.of(key)]
            ).map { Secret(id: $0["api_id"], secret: String(decoding: $0["secret"] as Data, as: UTF8.self)) }
        }
    }
}
