// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// Access and refresh tokens of registered devices; the database keeps their hashes only.
///
/// An access token is valid for 15 minutes, a refresh token for 30 days and one use. A used refresh token is accepted
/// again for a minute, because the response may have been lost. Later reuse indicates theft and revokes all tokens of
/// the device. Source: api-client-networking, "401 Handling".
package struct DeviceTokens: Sendable {
    private let database: DirectoryDatabase

    static let accessLife: Int64 = 900
    static let refreshLife: Int64 = 30 * 86_400
    /// Seconds for which a used refresh token is accepted again.
    static let grace: Int64 = 60
    /// Most token pairs that are kept of one device.
    private static let keptPairs = 4096

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// Issues the first tokens of a device; `now` is seconds since 1970.
    ///
    /// - Throws: `TokenError.deviceUnknown`, or a database error.
    package func issue(_ device: String, to caller: Caller, now: Int64) async throws -> TokenResponse {
        try await database.pool.write { database in
            guard try DeviceList.isRegistered(device, caller.account, database) else { throw TokenError.deviceUnknown }
            return try Self.issue(device, caller, now: now, database)
        }
    }

    /// Finds the holder of a refresh token, for the check of a signature before its use.
    package func holder(ofRefresh token: String, now: Int64) async throws -> Caller? {
        let hash = SecretHash.of(token)
        return try await database.pool.read { database in
            let key = try database.value(Data.self, "SELECT key_hash FROM device_token WHERE refresh_hash = ?", [hash])
            return try key.flatMap { try Caller.ofTokens(keyHash: $0, now: now, database) }
        }
    }

    /// Issues new tokens for a refresh token.
    ///
    /// - Throws: `TokenError`, or a database error.
    package func refresh(_ token: String, now: Int64) async throws -> TokenResponse {
        let hash = SecretHash.of(token)
        // The refusal is a result and no error, because the revocation must be committed.
        let outcome = try await database.pool.write(.locked) { database -> Result<TokenResponse, TokenError> in
            guard
                let row = try database.row(
                    "SELECT * FROM device_token WHERE refresh_hash = ? AND refresh_expires > ? \(database.dialect.lock)",
                    [hash, now]),
                let caller = try Caller.ofTokens(keyHash: row["key_hash"], now: now, database)
            else { return .failure(.refreshExpired) }
            let device: String = row["device_id"]
            guard try DeviceList.isRegistered(device, caller.account, database) else { return .failure(.deviceUnknown) }
            if let rotated: Int64 = row["rotated"], now - rotated > Self.grace {
                try Self.revoke(device, caller.account, database)
                return .failure(.refreshExpired)
            }
            try database.execute(
                "UPDATE device_token SET rotated = coalesce(rotated, ?) WHERE refresh_hash = ?", [now, hash])
            return .success(try Self.issue(device, caller, now: now, database))
        }
        return try outcome.get()
    }

    /// Finds the holder of an access token.
    ///
    /// - Throws: `TokenError`, by which a client knows whether to refresh or to sign in; or a database error.
    package static func caller(of token: String, in database: DirectoryDatabase, now: Int64) async throws -> Caller {
        let hash = SecretHash.of(token)
        let caller = try await database.pool.read { database in
            guard
                let row = try database.row(
                    "SELECT * FROM device_token WHERE access_hash = ? AND access_expires > ?", [hash, now])
            else { throw TokenError.accessExpired }
            guard var caller = try Caller.ofTokens(keyHash: row["key_hash"], now: now, database) else {
                throw TokenError.refreshExpired
            }
            let device: String = row["device_id"]
            guard try DeviceList.isRegistered(device, caller.account, database) else { throw TokenError.deviceUnknown }
            caller.device = device
            return caller
        }
        database.keyUsage.record(caller.keyHash, now: now)
        return caller
    }

    private static func revoke(_ device: String, _ account: AccountID, _ database: any SQLConnection) throws {
        try database.execute("DELETE FROM device_token WHERE account = ? AND device_id = ?", [account.row, device])
    }

    private static func issue(
        _ device: String, _ caller: Caller, now: Int64, _ database: any SQLConnection
    ) throws -> TokenResponse {
        let (access, refresh) = (NewSecret.text("hdt_"), NewSecret.text("hdr_"))
        try database.execute(
            """
            DELETE FROM device_token WHERE account = ? AND device_id = ? AND (refresh_expires <= ? OR id <=
            (SELECT id FROM device_token WHERE account = ? AND device_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?))
            """, [caller.account.row, device, now, caller.account.row, device, keptPairs - 1])
        try database.execute(
            """
            INSERT INTO device_token (account, key_hash, device_id, access_hash, access_expires, refresh_hash,
            refresh_expires) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                caller.account.row, caller.keyHash, device, SecretHash.of(access), now + accessLife,
                SecretHash.of(refresh), now + refreshLife,
            ])
        return TokenResponse(accessToken: access, refreshToken: refresh, expiresIn: Int(accessLife))
    }
}
