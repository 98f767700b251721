// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// The gateways and phones that use the directory, with when they were last seen.
struct DeviceList: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// Notes a device; registering again refreshes what is known of it.
    func register(_ device: DeviceRegistration, now: Int64) async throws {
        try await database.commits.write { [account, limit = database.storedPerDay] database in
            guard
                try Self.isRegistered(device.deviceID, account, database)
                    || AccountQuota.take(0, of: account, limit: limit, now: now, database)
            else { throw Refusal.quotaReached(now: now) }
            try database.execute(
                sql: """
                    INSERT INTO device
                    (account, device_id, platform, os_version, app_version, sdk_version, registered, last_seen)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (account, device_id) DO UPDATE SET platform = excluded.platform,
                    os_version = excluded.os_version, app_version = excluded.app_version,
                    sdk_version = excluded.sdk_version, last_seen = excluded.last_seen
                    """,
                arguments: [
                    account.row, device.deviceID, device.platform, device.osVersion, device.appVersion,
                    device.sdkVersion,
                    now, now,
                ])
        }
    }

    /// Brings a device up to date; false when it never registered.
    func update(_ device: DeviceUpdate, now: Int64) async throws -> Bool {
        try await database.commits.write { [account] database in
            try database.execute(
                sql: """
                    UPDATE device SET platform = ?, os_version = coalesce(?, os_version),
                    app_version = coalesce(?, app_version), sdk_version = coalesce(?, sdk_version), last_seen = ?
                    WHERE account = ? AND device_id = ?
                    """,
                arguments: [
                    device.platform, device.osVersion, device.appVersion, device.sdkVersion, now, account.row,
                    device.deviceID,
                ])
            return database.changesCount > 0
        }
    }

    /// Notes a sign of life; false when the device never registered.
    func notePresence(_ presence: Presence, now: Int64) async throws -> Bool {
        try await database.commits.write { [account] database in
            try database.execute(
                sql: """
                    UPDATE device SET last_seen = ?, last_synced_at = coalesce(?, last_synced_at)
                    WHERE account = ? AND device_id = ?
                    """,
                arguments: [now, presence.lastSyncedAt, account.row, presence.deviceID])
            return database.changesCount > 0
        }
    }

    static func isRegistered(_ device: String, _ account: AccountID, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT 1 FROM device WHERE account = ? AND device_id = ?", arguments: [account.row, device])
            ?? false
    }
}
