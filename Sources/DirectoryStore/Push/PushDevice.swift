// SPDX-License-Identifier: Apache-2.0

package import Branding
package import Foundation

/// A phone or browser that gets push messages.
package struct PushDevice: Hashable, Sendable {
    /// Chosen by the device; of a browser with an invitation by the directory.
    package let id: String
    package let platform: PushPlatform
    /// A token, or a subscription as JSON.
    ///
    /// Its holder can send to the device, so it appears in no list and no log.
    package let address: String
    package let appVersion: String?
    package let preferences: PushPreferences
    package let numbers: [Number]
    /// Seconds since 1970.
    package let created: Int64

    /// A number whose calls the device wants to know.
    package struct Number: Hashable, Sendable {
        package let number: E164Number
        /// Seconds since 1970; nil until an operator has confirmed that the device's person has the number.
        package let confirmed: Int64?
        /// `operator` or `invitation`; nil until then.
        package let by: String?
    }

    /// True if a message can reach the device.
    package var isConfirmed: Bool { numbers.contains { $0.confirmed != nil } }
}

/// The fields of a registration.
package struct PushRegistration: Sendable {
    package var device: String
    package var platform: PushPlatform
    /// A token, or a subscription as JSON; the caller has checked it.
    package var address: String
    package var appVersion: String?
    /// Nil keeps the numbers of an earlier registration.
    package var numbers: [E164Number]?
    /// The hash of the API key; nil for an invitation.
    package var keyHash: Data?

    package init(device: String, platform: PushPlatform, address: String) {
        (self.device, self.platform, self.address) = (device, platform, address)
    }
}

/// The device of a request: by its identifier, or by its token or subscription.
package enum PushDeviceName: Hashable, Sendable {
    case id(String)
    case address(String)
}

/// Refusals of push registrations.
package enum PushError: Error, Hashable {
    /// The account has no such device.
    case unknownDevice
    /// The number has `PushLimits.devicesPerNumber` devices.
    case numberIsFull(E164Number)
    case tooManyNumbers
    /// Another device of the account has this token or subscription.
    case addressTaken
    /// The invitation is unknown, used or expired.
    case badInvitation
    case tooManyInvitations
    /// The secret of a browser is unknown, or its registration is removed.
    case badSecret
}
