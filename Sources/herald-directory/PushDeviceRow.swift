// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Primitives

/// A device for push messages in a list.
///
/// Its token or subscription is left out: its holder can send to the device.
struct PushDeviceRow: Encodable {
    let device: String
    let platform: String
    let confirmed: [String]
    let waiting: [String]
    let version: String?
    let created: String
    let missedCall: Bool
    let callReturned: Bool
    let brandChanged: Bool
    let privacy: String?

    enum CodingKeys: String, CodingKey {
        case platform, confirmed, waiting, privacy
        case device = "device_id"
        case version = "app_version"
        case created = "created_at"
        case missedCall = "missed_call"
        case callReturned = "call_returned"
        case brandChanged = "brand_changed"
    }

    init(_ device: PushDevice) {
        (self.device, platform, version) = (device.id, device.platform.rawValue, device.appVersion)
        confirmed = device.numbers.filter { $0.confirmed != nil }.map(\.number.description)
        waiting = device.numbers.filter { $0.confirmed == nil }.map(\.number.description)
        created = Timestamp.string(from: device.created)
        missedCall = device.preferences.missedCall
        callReturned = device.preferences.callReturned
        brandChanged = device.preferences.brandChanged
        privacy = device.preferences.disclosure?.rawValue
    }

    var cells: [String?] {
        [
            device, platform, confirmed.joined(separator: ", "), waiting.joined(separator: ", "), version, created,
        ]
    }

    /// All facts, one a line.
    var text: String {
        let choices = [
            ("missed_call", missedCall), ("call_returned", callReturned), ("brand_changed", brandChanged),
        ].filter(\.1).map(\.0)
        let facts: [(String, String)] = [
            ("device", device), ("platform", platform), ("version", version ?? "unknown"), ("created", created),
            ("confirmed", confirmed.isEmpty ? "none" : confirmed.joined(separator: ", ")),
            ("waiting", waiting.isEmpty ? "none" : waiting.joined(separator: ", ")),
            ("messages", choices.isEmpty ? "none" : choices.joined(separator: ", ")),
            ("privacy", privacy ?? "that of the configuration"),
        ]
        return facts.map { name, value in
            name.padding(to: 11) + TerminalText.visible(value) + "\n"
        }.joined()
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
