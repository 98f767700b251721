// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation

/// Reads the reports of devices about themselves. Only the identifier is required. Other fields are cut and cleaned,
/// and unknown ones are ignored, because a phone with a refused report stays unregistered until its next start.
extension DeviceRegistration {
    /// - Throws: `Refusal` (400) without a `device_id`.
    init(_ object: [String: JSONValue]) throws {
        let fields = RequestFields<CodingKeys>(object)
        self.init(
            deviceID: try fields.deviceID(.deviceID), platform: fields.clean(.platform, atMost: 64) ?? "unknown",
            osVersion: fields.clean(.osVersion), appVersion: fields.clean(.appVersion),
            sdkVersion: fields.clean(.sdkVersion))
        deviceType = fields.clean(.deviceType)
        customerName = fields.clean(.customerName)
        customerAccountNumber = fields.clean(.customerAccountNumber)
    }
}

extension DeviceUpdate {
    /// - Throws: `Refusal` (400) without a `device_id`.
    init(_ object: [String: JSONValue]) throws {
        let fields = RequestFields<CodingKeys>(object)
        self.init(
            deviceID: try fields.deviceID(.deviceID), platform: fields.clean(.platform, atMost: 64) ?? "",
            appVersion: fields.clean(.appVersion), sdkVersion: fields.clean(.sdkVersion),
            osVersion: fields.clean(.osVersion))
        capabilities = DeviceCapabilities.clean(object["capabilities"])
    }
}

extension Presence {
    /// - Throws: `Refusal` (400) without a `device_id`.
    init(_ object: [String: JSONValue]) throws {
        let fields = RequestFields<CodingKeys>(object)
        self.init(
            deviceID: try fields.deviceID(.deviceID), observedAt: fields.clean(.observedAt) ?? "",
            osVersion: fields.clean(.osVersion), lastSyncedAt: fields.clean(.lastSyncedAt))
    }
}

extension DeviceLog.Line {
    /// Reads a line; invalid fields are cut or dropped.
    ///
    /// - Parameter now: seconds since 1970.
    init(_ object: [String: JSONValue], now: Int64) {
        let fields = RequestFields<CodingKeys>(object)
        self.init(
            level: fields.clean(.level, atMost: 16) ?? "unknown",
            message: fields.clean(.message, atMost: DeviceLog.longestMessage) ?? "", meta: Self.meta(object["meta"]),
            occurredAt: fields.clean(.occurredAt, atMost: 64), receivedAt: Timestamp.string(from: now))
    }

    private static func meta(_ value: JSONValue?) -> JSONValue? {
        guard let value, value != .null, value.isWithin(levels: JSONValue.deepest),
            let size = try? JSONEncoder().encode(value).count, size <= DeviceLog.largestMeta
        else { return nil }
        return value
    }
}

/// Cleans the capabilities of a device: an object of a few short values.
enum DeviceCapabilities {
    /// Most members; the first in alphabetical order are kept.
    static let most = 32

    /// Nil unless the value is an object.
    static func clean(_ value: JSONValue?) -> [String: JSONValue]? {
        guard case .object(let object) = value else { return nil }
        return object.sorted { $0.key < $1.key }.prefix(most).reduce(into: [:]) { kept, member in
            guard let name = ClientText.clean(member.key, atMost: 64) else { return }
            switch member.value {
            case .bool, .int: kept[name] = member.value
            case .double(let number) where number.isFinite: kept[name] = member.value
            case .string(let text): kept[name] = ClientText.clean(text, atMost: 64).map { .string($0) }
            default: break
            }
        }
    }
}
