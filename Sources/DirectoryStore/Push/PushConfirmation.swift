// SPDX-License-Identifier: Apache-2.0

package import Branding

extension PushDevices {
    /// Confirms that the person of a device has one of its numbers, or all of them; messages about it are sent from now on.
    ///
    /// - Parameters:
    ///   - number: nil confirms every number of the device.
    ///   - now: seconds since 1970.
    /// - Returns: the numbers that this call has confirmed.
    /// - Throws: `PushError.unknownDevice`, or a database error.
    package func confirm(_ device: String, number: E164Number?, now: Int64) async throws -> [E164Number] {
        try await database.pool.write { [account] database in
            let known = try Self.find(.id(device), account, database).numbers
            let waiting = known.filter { $0.confirmed == nil && (number == nil || $0.number == number) }
            for entry in waiting {
                try Self.confirm(entry.number, of: device, account, by: "operator", now: now, database)
            }
            return waiting.map(\.number)
        }
    }

    static func confirm(
        _ number: E164Number, of device: String, _ account: AccountID, by: String, now: Int64,
        _ database: any SQLConnection
    ) throws {
        try database.execute(
            """
            UPDATE push_number SET confirmed = ?, confirmed_by = ? WHERE account = ? AND number = ? AND device_id = ?
            """, [now, by, account.row, Int64(number.digits), device])
    }
}

/// One-time links with which a person's browser gets the messages of a number.
///
/// A link is as good as the operator's confirmation, so the database keeps only its hash. It is used once.
package struct PushInvitations: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// A browser after the use of its link.
    package struct Redeemed: Sendable {
        package let account: AccountID
        package let device: PushDevice
        /// The browser's own secret, for its later requests; the database keeps its hash.
        package let secret: String
    }

    /// Makes the secret of a link.
    ///
    /// - Parameters:
    ///   - expires: seconds since 1970.
    ///   - now: seconds since 1970.
    /// - Throws: `PushError.tooManyInvitations`, or a database error.
    package func invite(_ number: E164Number, of account: AccountID, expires: Int64, now: Int64) async throws -> String
    {
        let secret = NewSecret.text("hi_", bytes: 24)
        try await database.pool.write { database in
            try database.execute("DELETE FROM push_invitation WHERE expires < ?", [now])
            let count = try database.value(
                Int.self, "SELECT count(*) FROM push_invitation WHERE account = ?", [account.row])
            guard count ?? 0 < PushLimits.invitations else { throw PushError.tooManyInvitations }
            try database.execute(
                "INSERT INTO push_invitation (hash, account, number, expires) VALUES (?, ?, ?, ?)",
                [SecretHash.of(secret), account.row, Int64(number.digits), expires])
        }
        return secret
    }

    /// Registers the browser of a link; the link's number is confirmed by it.
    ///
    /// - Parameters:
    ///   - registration: the subscription; its device and numbers are not read.
    ///   - most: devices of an account; 0 means no limit.
    ///   - now: seconds since 1970.
    /// - Throws: `PushError`, `StoreError.tooManyDevices`, or a database error. The link stays valid then.
    package func redeem(
        _ link: String, _ registration: PushRegistration, most: Int = 0, now: Int64
    ) async throws -> Redeemed {
        let (secret, fresh) = (NewSecret.text("hp_", bytes: 24), "web-" + NewSecret.text("", bytes: 12))
        let counts = database.pushDeviceCounts
        let redeemed = try await database.pool.write { database in
            let row = try database.row(
                "DELETE FROM push_invitation WHERE hash = ? AND expires > ? RETURNING account, number",
                [SecretHash.of(link), now])
            guard let row, let number = E164Number("+\(row["number"] as Int64)") else { throw PushError.badInvitation }
            let account = AccountID(row: row["account"])
            var registration = registration
            registration.numbers = nil
            // A browser with a second link keeps its device.
            let known = try database.value(
                String.self, "SELECT device_id FROM push_device WHERE account = ? AND address_hash = ?",
                [account.row, SecretHash.of(registration.address)])
            registration.device = known ?? fresh
            try PushDevices.store(
                registration, keepsConfirmed: false, account, most: most, counts, now: now, database)
            try PushDevices.add(number, to: registration.device, account, database)
            try PushDevices.confirm(
                number, of: registration.device, account, by: "invitation", now: now, database)
            try database.execute(
                "UPDATE push_device SET secret_hash = ? WHERE account = ? AND device_id = ?",
                [SecretHash.of(secret), account.row, registration.device])
            let device = try PushDevices.find(.id(registration.device), account, database)
            return Redeemed(account: account, device: device, secret: secret)
        }
        if redeemed.device.id == fresh { counts.add(to: redeemed.account) }
        return redeemed
    }

    /// The browser of a secret.
    ///
    /// - Throws: `PushError.badSecret`, or a database error.
    package func device(ofSecret secret: String) async throws -> (account: AccountID, device: PushDevice) {
        try await database.pool.read { database in
            guard
                let row = try database.row(
                    "SELECT * FROM push_device WHERE secret_hash = ?", [SecretHash.of(secret)])
            else { throw PushError.badSecret }
            let account = AccountID(row: row["account"])
            return (account, try PushDevices.device(row, account, database))
        }
    }

    /// Gives the browser of a secret another subscription; its numbers stay confirmed.
    ///
    /// - Throws: `PushError`, or a database error.
    package func move(_ secret: String, to address: String, now: Int64) async throws -> PushDevice {
        let (account, device) = try await device(ofSecret: secret)
        return try await database.pool.write { database in
            let registration = PushRegistration(device: device.id, platform: device.platform, address: address)
            try PushDevices.store(registration, keepsConfirmed: true, account, most: 0, now: now, database)
            return try PushDevices.find(.id(device.id), account, database)
        }
    }
}
