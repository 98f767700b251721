// SPDX-License-Identifier: Apache-2.0

/// The occasions of a push message; a person switches each on or off.
///
/// The raw value is the contract's, and the column of `push_device` with the person's choice.
package enum PushTopic: String, Codable, Hashable, Sendable, CaseIterable {
    /// A branded call ended without anybody who picked up.
    case missedCall = "missed_call"
    /// A person called the brand back.
    case callReturned = "call_returned"
    /// Name or logo of a brand are different.
    case brandChanged = "brand_changed"
}

/// The part of a message that a lock screen may show.
package enum PushDisclosure: String, Codable, Hashable, Sendable, CaseIterable {
    /// The name of the brand and the reason of the call.
    case full
    /// The name of the brand.
    case name
    /// Neither.
    case silent
}

/// The push services; the raw value is the contract's `platform`.
package enum PushPlatform: String, Codable, Hashable, Sendable, CaseIterable {
    /// Web Push (RFC 8030), whose address is a subscription.
    case web
    /// APNs, whose address is a token.
    case ios
    /// FCM, whose address is a token.
    case android
}

/// The choices of a device.
package struct PushPreferences: Hashable, Sendable {
    package var missedCall: Bool
    package var callReturned: Bool
    package var brandChanged: Bool
    /// Nil follows the directory's configuration.
    package var disclosure: PushDisclosure?

    package init(missedCall: Bool = true, callReturned: Bool = true, brandChanged: Bool = true) {
        (self.missedCall, self.callReturned, self.brandChanged) = (missedCall, callReturned, brandChanged)
    }

    init(_ row: SQLRow) {
        self.init(
            missedCall: row["missed_call"], callReturned: row["call_returned"], brandChanged: row["brand_changed"])
        disclosure = (row["disclosure"] as String?).flatMap(PushDisclosure.init(rawValue:))
    }
}
