// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

extension DeviceList {
    /// A device as the operator sees it.
    struct DeviceRow: Codable, Hashable, Sendable {
        let deviceID: String
        let platform: String
        let osVersion: String?
        let appVersion: String?
        let sdkVersion: String?
        /// ISO 8601.
        let registered: String
        /// ISO 8601.
        let lastSeen: String
        /// As the device said it.
        let lastSynced: String?

        enum CodingKeys: String, CodingKey {
            case platform
            case deviceID = "device_id"
            case osVersion = "os_version"
            case appVersion = "app_version"
            case sdkVersion = "sdk_version"
            case registered = "registered_at"
            case lastSeen = "last_seen_at"
            case lastSynced = "last_synced_at"
        }
    }

    /// Devices by identifier, behind `after`, at most `limit`.
    func page(after: String?, limit: Int) throws -> [DeviceRow] {
        try database.pool.read { [account] database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM device WHERE account = ? AND device_id > ? ORDER BY device_id LIMIT ?",
                arguments: [account.row, after ?? "", limit]
            ).map { row in
                DeviceRow(
                    deviceID: row["device_id"], platform: row["platform"], osVersion: row["os_version"],
                    appVersion: row["app_version"], sdkVersion: row["sdk_version"],
                    registered: Timestamp.string(from: row["registered"]),
                    lastSeen: Timestamp.string(from: row["last_seen"]), lastSynced: row["last_synced_at"])
            }
        }
    }
}
