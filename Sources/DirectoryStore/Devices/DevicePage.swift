// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

extension DeviceList {
    /// A device in a list.
    package struct DeviceRow: Codable, Hashable, Sendable {
        package let deviceID: String
        package let platform: String
        /// Such as `iPhone (17.4)`.
        package let deviceType: String?
        package let osVersion: String?
        package let appVersion: String?
        package let sdkVersion: String?
        /// The customer, if the device names one.
        package let customerName: String?
        package let customerAccountNumber: String?
        /// Capabilities such as `contacts_enabled`.
        package let capabilities: [String: JSONValue]?
        /// Received log lines, of which the last `DeviceLog.kept` are stored.
        package let logLines: Int
        /// ISO 8601.
        package let registered: String
        /// ISO 8601.
        package let lastSeen: String
        /// The device's own time.
        package let lastSynced: String?

        package enum CodingKeys: String, CodingKey {
            case platform, capabilities
            case deviceType = "device_type"
            case customerName = "customer_name"
            case customerAccountNumber = "customer_account_number"
            case logLines = "log_lines"
            case deviceID = "device_id"
            case osVersion = "os_version"
            case appVersion = "app_version"
            case sdkVersion = "sdk_version"
            case registered = "registered_at"
            case lastSeen = "last_seen_at"
            case lastSynced = "last_synced_at"
        }
    }

    /// At most `limit` devices after `after`, by identifier.
    package func page(after: String?, limit: Int) throws -> [DeviceRow] {
        try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM device WHERE account = ? AND device_id > ? ORDER BY device_id LIMIT ?",
                [account.row, after ?? "", limit]
            ).map(Self.row)
        }
    }

    private static func row(_ row: SQLRow) throws -> DeviceRow {
        let capabilities: String? = row["capabilities"]
        return DeviceRow(
            deviceID: row["device_id"], platform: row["platform"], deviceType: row["device_type"],
            osVersion: row["os_version"], appVersion: row["app_version"], sdkVersion: row["sdk_version"],
            customerName: row["customer_name"], customerAccountNumber: row["customer_account_number"],
            capabilities: try capabilities.map { try JSONValue.object(parsing: $0.utf8) }, logLines: row["log_lines"],
            registered: Timestamp.string(from: row["registered"]),
            lastSeen: Timestamp.string(from: row["last_seen"]), lastSynced: row["last_synced_at"])
    }
}
