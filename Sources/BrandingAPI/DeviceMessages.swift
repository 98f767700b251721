// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/device/register`, sent once per device.
package struct DeviceRegistration: Codable, Hashable, Sendable {
    /// A UUID chosen by the client.
    package var deviceID: String
    /// Such as `ios`, `android` or `linux`.
    package var platform: String
    package var osVersion: String?
    package var appVersion: String?
    package var sdkVersion: String?
    /// Device model, such as `iPhone (17.4)`.
    package var deviceType: String?
    /// The owner of the phone, if the app sends it.
    package var customerName: String?
    package var customerAccountNumber: String?

    package enum CodingKeys: String, CodingKey {
        case platform
        case deviceID = "device_id"
        case osVersion = "os_version"
        case appVersion = "app_version"
        case sdkVersion = "sdk_version"
        case deviceType = "device_type"
        case customerName = "customer_name"
        case customerAccountNumber = "customer_account_number"
    }

    package init(
        deviceID: String, platform: String, osVersion: String? = nil, appVersion: String? = nil,
        sdkVersion: String? = nil
    ) {
        self.deviceID = deviceID
        self.platform = platform
        self.osVersion = osVersion
        self.appVersion = appVersion
        self.sdkVersion = sdkVersion
    }
}

/// The body of `POST mobile/device/update`, sent at the start, on a change and after each sync.
package struct DeviceUpdate: Codable, Hashable, Sendable {
    package var deviceID: String
    package var platform: String
    package var appVersion: String?
    package var sdkVersion: String?
    package var osVersion: String?
    /// ISO 8601.
    package var lastSeen: String?
    /// Capabilities of the device, such as `contacts_enabled`.
    package var capabilities: [String: JSONValue]?

    package enum CodingKeys: String, CodingKey {
        case platform, capabilities
        case deviceID = "device_id"
        case appVersion = "app_version"
        case sdkVersion = "sdk_version"
        case osVersion = "os_version"
        case lastSeen = "last_seen"
    }

    package init(
        deviceID: String, platform: String, appVersion: String? = nil, sdkVersion: String? = nil,
        osVersion: String? = nil, lastSeen: String? = nil
    ) {
        self.deviceID = deviceID
        self.platform = platform
        self.appVersion = appVersion
        self.sdkVersion = sdkVersion
        self.osVersion = osVersion
        self.lastSeen = lastSeen
    }
}

/// The body of `POST mobile/device/presence`, sent every five minutes and after each sync.
package struct Presence: Codable, Hashable, Sendable {
    package var deviceID: String
    /// ISO 8601.
    package var observedAt: String
    package var platform: String?
    package var osVersion: String?
    /// The `synced_at` of the last sync.
    package var lastSyncedAt: String?

    package enum CodingKeys: String, CodingKey {
        case platform
        case deviceID = "device_id"
        case observedAt = "observed_at"
        case osVersion = "os_version"
        case lastSyncedAt = "last_synced_at"
    }

    package init(
        deviceID: String, observedAt: String, platform: String? = nil, osVersion: String? = nil,
        lastSyncedAt: String? = nil
    ) {
        self.deviceID = deviceID
        self.observedAt = observedAt
        self.platform = platform
        self.osVersion = osVersion
        self.lastSyncedAt = lastSyncedAt
    }
}
