// SPDX-License-Identifier: Apache-2.0

/// The operator's settings for clients, for `GET mobile/config`.
package struct ClientSettings: Hashable, Sendable {
    package var ios = Versions()
    package var android = Versions()
    /// Gateways.
    package var herald = Versions()
    /// True asks clients to update to `latest`.
    package var forceUpdate = false
    /// Minutes between two syncs of a client, 1 to 10,080.
    package var syncIntervalMinutes = 15
    /// Hours for which a client may use its copy without a successful sync, 1 to 8,760.
    package var cacheTTLHours = 24
    /// True sends phones a number that is out of use once more, with an empty name.
    package var blanksRemovedNumbers = false
    /// Devices of an account; 0 means no limit.
    package var devicesPerAccount = 1_000_000
    /// The scheme of links into the operator's apps, such as `herald` in `herald://brand/acme`.
    package var linkScheme = "herald"

    package init() {}

    /// The versions of one kind of client, such as `1.2.0`; nil leaves the field out.
    package struct Versions: Hashable, Sendable {
        /// The oldest supported version.
        package var minimum: String?
        package var latest: String?

        package init(minimum: String? = nil, latest: String? = nil) {
            self.minimum = minimum
            self.latest = latest
        }
    }
}
