// SPDX-License-Identifier: Apache-2.0

import Primitives

/// One device that receives push messages, as it registered. Prints as `<redacted>`: whoever has the values can send to it.
package enum PushTarget: Hashable, Sendable, Redacted {
    /// A browser: the push service's URL, its public key (65 bytes, uncompressed) and its secret (16 bytes).
    case web(endpoint: String, p256dh: [UInt8], auth: [UInt8])
    /// An app on iOS: the device token in hexadecimal.
    case apns(token: String)
    /// An app on Android: the registration token.
    case fcm(token: String)
}
