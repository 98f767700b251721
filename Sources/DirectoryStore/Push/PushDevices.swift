// SPDX-License-Identifier: Apache-2.0

package import Branding
import Foundation

/// The devices of an account that get push messages.
package struct PushDevices: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// Registers a device, or changes its registration.
    ///
    /// A number waits for an operator. Another token or subscription of a known device makes all its numbers wait again:
    /// the holder of a key could otherwise read the messages of somebody else.
    ///
    /// - Parameters:
    ///   - most: devices of the account; 0 means no limit.
    ///   - now: seconds since 1970.
    /// - Throws: `PushError`, `StoreError.tooManyDevices`, or a database error.
    package func register(_ registration: PushRegistration, most: Int = 0, now: Int64) async throws -> PushDevice {
        let counts = database.pushDeviceCounts
        let (device, isNew) = try await database.pool.write { [account] database in
            let isNew = try Self.store(
                registration, keepsConfirmed: false, account, most: most, counts, now: now, database)
            return (try Self.find(.id(registration.device), account, database), isNew)
        }
        if isNew { counts.add(to: account) }
        return device
    }

    /// Removes a device and its messages.
    ///
    /// - Throws: `PushError.unknownDevice`, or a database error.
    package func remove(_ name: PushDeviceName) async throws {
        try await database.pool.write { [account] database in
            let id = try Self.find(name, account, database).id
            try database.execute("DELETE FROM push_device WHERE account = ? AND device_id = ?", [account.row, id])
        }
    }

    /// Replaces the choices of a device.
    ///
    /// - Parameter change: gets the present choices.
    /// - Throws: `PushError.unknownDevice`, or a database error.
    package func change(
        _ name: PushDeviceName, _ change: @escaping @Sendable (inout PushPreferences) -> Void
    ) async throws -> PushDevice {
        try await database.pool.write { [account] database in
            let device = try Self.find(name, account, database)
            var preferences = device.preferences
            change(&preferences)
            try database.execute(
                """
                UPDATE push_device SET missed_call = ?, call_returned = ?, brand_changed = ?, disclosure = ?
                WHERE account = ? AND device_id = ?
                """,
                [
                    preferences.missedCall, preferences.callReturned, preferences.brandChanged,
                    preferences.disclosure?.rawValue, account.row, device.id,
                ])
            return try Self.find(.id(device.id), account, database)
        }
    }

    /// One device.
    ///
    /// - Throws: `PushError.unknownDevice`, or a database error.
    package func device(_ name: PushDeviceName) async throws -> PushDevice {
        try await database.pool.read { [account] in try Self.find(name, account, $0) }
    }

    /// At most `limit` devices after `after`, by identifier, optionally of one number.
    package func page(after: String?, limit: Int, number: E164Number? = nil) async throws -> [PushDevice] {
        try await database.pool.read { [account] database in
            var arguments: SQLArguments = ["account": account.row, "after": after ?? "", "limit": limit]
            if let number { arguments.named["number"] = .integer(Int64(number.digits)) }
            let condition =
                number == nil
                ? "true"
                : "device_id IN (SELECT device_id FROM push_number WHERE account = :account AND number = :number)"
            return try database.rows(
                """
                SELECT * FROM push_device WHERE account = :account AND device_id > :after AND \(condition)
                ORDER BY device_id LIMIT :limit
                """, arguments
            ).map { try Self.device($0, account, database) }
        }
    }
}

// Each function runs inside a transaction.
extension PushDevices {
    static func find(
        _ name: PushDeviceName, _ account: AccountID, _ database: any SQLConnection
    ) throws -> PushDevice {
        let row =
            switch name {
            case .id(let id):
                try database.row(
                    "SELECT * FROM push_device WHERE account = ? AND device_id = ?", [account.row, id])
            case .address(let address):
                try database.row(
                    "SELECT * FROM push_device WHERE account = ? AND address_hash = ?",
                    [account.row, SecretHash.of(address)])
            }
        guard let row else { throw PushError.unknownDevice }
        return try device(row, account, database)
    }

    static func device(_ row: SQLRow, _ account: AccountID, _ database: any SQLConnection) throws -> PushDevice {
        guard let platform = PushPlatform(rawValue: row["platform"]) else {
            throw InconsistentStore(description: "a push device has an unknown platform")
        }
        let id: String = row["device_id"]
        let numbers = try database.rows(
            "SELECT number, confirmed, confirmed_by FROM push_number WHERE account = ? AND device_id = ? ORDER BY number",
            [account.row, id])
        return PushDevice(
            id: id, platform: platform, address: row["address"], appVersion: row["app_version"],
            preferences: PushPreferences(row),
            numbers: numbers.compactMap { number in
                E164Number("+\(number["number"] as Int64)").map {
                    PushDevice.Number(number: $0, confirmed: number["confirmed"], by: number["confirmed_by"])
                }
            }, created: row["created"])
    }

    /// Stores a registration.
    ///
    /// - Parameters:
    ///   - keepsConfirmed: true if the request has the device's own secret.
    ///   - counts: the devices by account; nil without a limit.
    /// - Returns: true for a new device.
    @discardableResult
    static func store(
        _ registration: PushRegistration, keepsConfirmed: Bool, _ account: AccountID, most: Int = 0,
        _ counts: DeviceCounts? = nil, now: Int64, _ database: any SQLConnection
    ) throws -> Bool {
        let hash = SecretHash.of(registration.address)
        let earlier = try database.row(
            "SELECT address_hash FROM push_device WHERE account = ? AND device_id = ?",
            [account.row, registration.device])
        if earlier == nil, most > 0, let counts, try counts.count(of: account, database) >= most {
            throw StoreError.tooManyDevices(most)
        }
        let isTaken = try database.exists(
            "SELECT 1 FROM push_device WHERE account = ? AND address_hash = ? AND device_id <> ?",
            [account.row, hash, registration.device])
        if isTaken { throw PushError.addressTaken }
        try database.execute(
            """
            INSERT INTO push_device (account, device_id, platform, address, address_hash, app_version, key_hash,
                missed_call, call_returned, brand_changed, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, TRUE, TRUE, TRUE, ?)
            ON CONFLICT (account, device_id) DO UPDATE SET platform = excluded.platform, address = excluded.address,
                address_hash = excluded.address_hash,
                app_version = coalesce(excluded.app_version, push_device.app_version),
                key_hash = coalesce(excluded.key_hash, push_device.key_hash)
            """,
            [
                account.row, registration.device, registration.platform.rawValue, registration.address, hash,
                registration.appVersion, registration.keyHash, now,
            ])
        if let earlier, earlier["address_hash"] as Data != hash, !keepsConfirmed {
            try database.execute(
                """
                UPDATE push_number SET confirmed = NULL, confirmed_by = NULL WHERE account = ? AND device_id = ?
                """, [account.row, registration.device])
            // The holder of a key would get messages that wait at another address.
            try database.execute(
                """
                UPDATE push_delivery SET state = 'ended', due = NULL, holder = NULL
                WHERE account = ? AND device_id = ? AND due IS NOT NULL
                """, [account.row, registration.device])
            // The secret belongs to the browser that was there before.
            try database.execute(
                "UPDATE push_device SET secret_hash = NULL WHERE account = ? AND device_id = ?",
                [account.row, registration.device])
        }
        if let numbers = registration.numbers {
            try setNumbers(numbers, of: registration.device, account, database)
        }
        return earlier == nil
    }

    /// Gives a device exactly these numbers; known ones stay confirmed.
    private static func setNumbers(
        _ numbers: [E164Number], of device: String, _ account: AccountID, _ database: any SQLConnection
    ) throws {
        guard numbers.count <= PushLimits.numbersPerDevice else { throw PushError.tooManyNumbers }
        let known = Set(
            try database.values(
                Int64.self, "SELECT number FROM push_number WHERE account = ? AND device_id = ?",
                [account.row, device]))
        let asked = Set(numbers.map { Int64($0.digits) })
        for number in known.subtracting(asked) {
            try database.execute(
                "DELETE FROM push_number WHERE account = ? AND device_id = ? AND number = ?",
                [account.row, device, number])
        }
        for number in numbers where !known.contains(Int64(number.digits)) {
            try add(number, to: device, account, database)
        }
    }

    /// - Throws: `PushError.numberIsFull`, or a database error.
    static func add(
        _ number: E164Number, to device: String, _ account: AccountID, _ database: any SQLConnection
    ) throws {
        let count = try database.value(
            Int.self, "SELECT count(*) FROM push_number WHERE account = ? AND number = ?",
            [account.row, Int64(number.digits)])
        guard count ?? 0 < PushLimits.devicesPerNumber else { throw PushError.numberIsFull(number) }
        try database.execute(
            "INSERT INTO push_number (account, number, device_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [account.row, Int64(number.digits), device])
    }
}
