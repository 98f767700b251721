// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/branding/imprint`, the older contract's report of a displayed brand.
///
/// Only `event` counts towards the month. Source: the contract's mobile SDKs.
package struct Imprint: Codable, Hashable, Sendable {
    package var phoneNumber: String
    /// ISO 8601.
    package var displayedAt: String
    package var deviceID: String
    package var platform: String?
    package var osVersion: String?
    package var deviceModel: String?
    package var campaignID: String?

    package enum CodingKeys: String, CodingKey {
        case platform
        case phoneNumber = "phone_number_e164"
        case displayedAt = "displayed_at"
        case deviceID = "device_id"
        case osVersion = "os_version"
        case deviceModel = "device_model"
        case campaignID = "campaign_id"
    }

    package init(phoneNumber: String, displayedAt: String, deviceID: String) {
        self.phoneNumber = phoneNumber
        self.displayedAt = displayedAt
        self.deviceID = deviceID
    }
}

/// The response to an imprint; a repetition with the same device, number and time returns the same values.
package struct ImprintResponse: Codable, Hashable, Sendable {
    package var success: Bool
    package var imprintID: String
    package var displayedAt: String

    package enum CodingKeys: String, CodingKey {
        case success
        case imprintID = "imprint_id"
        case displayedAt = "displayed_at"
    }

    package init(imprintID: String, displayedAt: String) {
        success = true
        self.imprintID = imprintID
        self.displayedAt = displayedAt
    }
}
