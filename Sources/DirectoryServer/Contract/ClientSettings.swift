// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The operator's settings for clients, for `GET mobile/config`.
package struct ClientSettings: Hashable, Sendable {
    package var ios = Versions()
    package var android = Versions()
    /// Gateways.
    package var herald = Versions()
    package var forceUpdate = false
    package var syncIntervalMinutes = 15
    package var cacheTTLHours = 24
    /// True sends phones a number that is out of use once more, with an empty name.
    package var blanksRemovedNumbers = false
    /// Devices of an account; 0 means no limit.
    package var devicesPerAccount = 0

    package init() {}

    /// The versions of one kind of client; nil leaves the field out.
    package struct Versions: Hashable, Sendable {
        /// The oldest supported version.
        package var minimum: String?
        package var latest: String?

        package init(minimum: String? = nil, latest: String? = nil) {
            self.minimum = minimum
            self.latest = latest
        }
    }

    /// The versions for a client; empty for an unknown platform.
    ///
    /// A gateway is recognised by its client type, because its platform is a configurable text.
    func versions(for platform: String, _ type: ClientType?) -> Versions {
        if type == .herald { return herald }
        return switch platform.lowercased() {
        case "ios": ios
        case "android": android
        case "linux", "sip", "herald": herald
        default: Versions()
        }
    }
}
