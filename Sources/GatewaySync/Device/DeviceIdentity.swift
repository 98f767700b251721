// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import Primitives

/// Identifies this gateway to the directory: a persistent id, platform and versions.
package struct DeviceIdentity: Hashable, Sendable {
    /// A lower-case UUID, unless the operator wrote another id into the file.
    package var id: String
    /// The contract's `platform`. A directory may refuse unknown values; that is not fatal.
    package var platform: String
    /// Name and version of the operating system.
    package var systemVersion: String
    /// Herald's version.
    package var version: String

    package init(id: String, platform: String, systemVersion: String, version: String) {
        self.id = id
        self.platform = platform
        self.systemVersion = systemVersion
        self.version = version
    }

    /// The body of the registration.
    var registration: DeviceRegistration {
        DeviceRegistration(
            deviceID: id, platform: platform, osVersion: systemVersion, appVersion: version, sdkVersion: version)
    }

    /// Reads `device-id` in the state folder, or creates an id and writes it there.
    ///
    /// - Throws: `DeviceIdentityError` if the file cannot be read or written, or holds no id.
    package static func id(inStateFolder folder: String) throws(DeviceIdentityError) -> String {
        let path = folder + "/device-id"
        if FileManager.default.fileExists(atPath: path) {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw DeviceIdentityError(path: path, problem: "it cannot be read")
            }
            let id = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard isID(id) else {
                throw DeviceIdentityError(path: path, problem: "it holds no id of 1 to 100 letters, digits, - or _")
            }
            return id
        }
        let id = UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // A truncated or missing id after a power cut would make another device.
            try FileReplacement.write(Array((id + "\n").utf8), to: path, mode: 0o644)
        } catch let error as FileReplacementError {
            throw DeviceIdentityError(path: path, problem: error.description)
        } catch {
            throw DeviceIdentityError(path: path, problem: "it cannot be written: \(error.localizedDescription)")
        }
        return id
    }

    private static func isID(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}

/// The device id is not available. The text names the file and the cause.
package struct DeviceIdentityError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let problem: String

    package var description: String {
        "no device id from \(path): \(problem); mend the file, or remove it to appear as a new device"
    }
}
