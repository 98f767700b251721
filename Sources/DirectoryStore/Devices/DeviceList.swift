// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// The gateways and phones of an account, with the times of their last requests.
package struct DeviceList: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// Registers a device; a second registration updates the fields it has and keeps the others.
    ///
    /// - Parameters:
    ///   - most: devices of the account, give or take those of a minute; 0 means no limit.
    ///   - now: seconds since 1970.
    /// - Throws: `StoreError`, or a database error.
    package func register(_ device: DeviceRegistration, most: Int = 0, now: Int64) async throws {
        let counts = database.deviceCounts
        let isNew = try await database.commits.write { [account, limit = database.storedPerDay] database in
            let isNew = try !Self.isRegistered(device.deviceID, account, database)
            if isNew {
                if most > 0, try counts.count(of: account, database) >= most { throw StoreError.tooManyDevices(most) }
                guard try AccountQuota.take(0, of: account, limit: limit, now: now, database) else {
                    throw StoreError.quotaReached(now: now)
                }
            }
            try database.execute(
                """
                INSERT INTO device (account, device_id, platform, os_version, app_version, sdk_version, device_type,
                customer_name, customer_account_number, registered, last_seen)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (account, device_id) DO UPDATE SET platform = excluded.platform,
                os_version = coalesce(excluded.os_version, device.os_version),
                app_version = coalesce(excluded.app_version, device.app_version),
                sdk_version = coalesce(excluded.sdk_version, device.sdk_version),
                device_type = coalesce(excluded.device_type, device.device_type),
                customer_name = coalesce(excluded.customer_name, device.customer_name),
                customer_account_number = coalesce(excluded.customer_account_number, device.customer_account_number),
                last_seen = excluded.last_seen
                """,
                [
                    account.row, device.deviceID, device.platform, device.osVersion, device.appVersion,
                    device.sdkVersion, device.deviceType, device.customerName, device.customerAccountNumber, now, now,
                ])
            return isNew
        }
        if isNew { counts.add(to: account) }
    }

    /// Updates a device; false for an unregistered one.
    package func update(_ device: DeviceUpdate, now: Int64) async throws -> Bool {
        try await update([device], now: now).first ?? false
    }

    /// Updates several devices in one transaction, in order; false for each unregistered one.
    package func update(_ devices: [DeviceUpdate], now: Int64) async throws -> [Bool] {
        let updates = try devices.map { ($0, try Self.text($0.capabilities)) }
        return try await database.commits.write { [account] database in
            try updates.map { device, capabilities in
                try database.execute(
                    """
                    UPDATE device SET platform = coalesce(nullif(?, ''), platform),
                    os_version = coalesce(?, os_version), app_version = coalesce(?, app_version),
                    sdk_version = coalesce(?, sdk_version), capabilities = coalesce(?, capabilities), last_seen = ?
                    WHERE account = ? AND device_id = ?
                    """,
                    [
                        device.platform, device.osVersion, device.appVersion, device.sdkVersion, capabilities, now,
                        account.row, device.deviceID,
                    ]) > 0
            }
        }
    }

    /// Records a sign of life; false for an unregistered device.
    package func recordPresence(_ presence: Presence, now: Int64) async throws -> Bool {
        try await database.commits.write { [account] database in
            try database.execute(
                """
                UPDATE device SET last_seen = ?, last_synced_at = coalesce(?, last_synced_at),
                os_version = coalesce(?, os_version) WHERE account = ? AND device_id = ?
                """, [now, presence.lastSyncedAt, presence.osVersion, account.row, presence.deviceID]) > 0
        }
    }

    private static func text(_ capabilities: [String: JSONValue]?) throws -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try capabilities.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    }

    static func isRegistered(_ device: String, _ account: AccountID, _ database: any SQLConnection) throws -> Bool {
        try database.exists("SELECT 1 FROM device WHERE account = ? AND device_id = ?", [account.row, device])
    }
}
