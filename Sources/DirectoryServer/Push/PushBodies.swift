// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore

/// A registration in a response. Source: mobile-api, "Register Device Token".
struct PushDeviceBody: Encodable {
    let id: String
    let user_id: String?
    let token: String?
    let platform: String
    let app_version: String?
    let is_active: Bool
    let created_at: String
    let numbers: [Number]

    struct Number: Encodable {
        let number: String
        /// False until an operator has confirmed that the person of the device has the number.
        let confirmed: Bool
    }

    /// - Parameter user: the `client_id` of the account; nil leaves it out.
    init(_ device: PushDevice, user: String? = nil) {
        (id, user_id, platform, app_version) = (device.id, user, device.platform.rawValue, device.appVersion)
        token = device.platform == .web ? nil : device.address
        is_active = true
        created_at = Timestamp.string(from: device.created)
        numbers = device.numbers.map {
            Number(number: $0.number.description, confirmed: $0.confirmed != nil)
        }
    }
}

struct PushDone: Encodable {
    var success = true
    let message: String
}

struct PushKey: Encodable {
    var success = true
    let public_key: String
}

/// The choices of a device. Source: mobile-api, "Update Notification Preferences".
struct PushPreferencesResponse: Encodable {
    var success = true
    let preferences: Preferences

    struct Preferences: Encodable {
        let missed_call: Bool
        let call_returned: Bool
        let brand_changed: Bool
        /// Left out while the device follows the directory's configuration.
        let privacy: String?
    }

    init(_ preferences: PushPreferences) {
        self.preferences = Preferences(
            missed_call: preferences.missedCall, call_returned: preferences.callReturned,
            brand_changed: preferences.brandChanged, privacy: preferences.disclosure?.rawValue)
    }
}

/// The choices in a request; a missing one stays.
struct PushPreferencesChange: Sendable {
    private var flags: [PushTopic: Bool] = [:]
    private var disclosure: PushDisclosure??

    /// - Throws: `Refusal` (400) for a missing object, an unknown field or a wrong type.
    init(_ value: JSONValue?) throws {
        guard let value else { throw Refusal.badRequest("Missing field preferences") }
        guard case .object(let object) = value else { throw Refusal.wrongType("preferences") }
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            switch (PushTopic(rawValue: name), value) {
            case (let topic?, .bool(let flag)): flags[topic] = flag
            case (nil, .null) where name == "privacy": disclosure = .some(nil)
            case (nil, .string(let text)) where name == "privacy":
                guard let choice = PushDisclosure(rawValue: text) else {
                    throw Refusal.badRequest("privacy must be full, name or silent")
                }
                disclosure = choice
            case (nil, _) where name != "privacy": throw Refusal.unknownField("preferences.\(name)")
            default: throw Refusal.wrongType("preferences.\(name)")
            }
        }
    }

    func apply(to preferences: inout PushPreferences) {
        preferences.missedCall = flags[.missedCall] ?? preferences.missedCall
        preferences.callReturned = flags[.callReturned] ?? preferences.callReturned
        preferences.brandChanged = flags[.brandChanged] ?? preferences.brandChanged
        if let disclosure { preferences.disclosure = disclosure }
    }
}
