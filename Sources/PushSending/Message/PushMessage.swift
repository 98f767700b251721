// SPDX-License-Identifier: Apache-2.0

/// The event that a push message is about.
package enum PushKind: String, CaseIterable, Hashable, Sendable {
    case missedCall = "missed_call"
    case callReturned = "call_returned"
    case brandChanged = "brand_changed"
    case test

    /// True if a sleeping phone should wake up for it.
    var isUrgent: Bool { self != .brandChanged }
}

/// The amount of text that push services and lock screens see.
package enum PushPrivacy: String, CaseIterable, Hashable, Sendable {
    /// Title and body.
    case full
    /// The title alone.
    case name
    /// Tag and deep link. The app fetches the rest.
    case silent
}

/// One push message, the same for every kind of device.
package struct PushMessage: Hashable, Sendable {
    package var kind: PushKind
    /// The call id. A later message with the same tag replaces an earlier one on the device.
    package var tag: String
    package var title: String
    package var body: String
    package var deepLink: String
    package var webURL: String?
    package var brandID: String?
    /// Seconds since 1970.
    package var sentAt: Int64
    /// Seconds after `sentAt` for which a push service keeps the message for a device that is off.
    package var lifetime: Int64
    package var privacy: PushPrivacy

    package init(
        kind: PushKind, tag: String, title: String, body: String, deepLink: String, webURL: String? = nil,
        brandID: String? = nil, sentAt: Int64, lifetime: Int64, privacy: PushPrivacy = .full
    ) {
        (self.kind, self.tag, self.title, self.body) = (kind, tag, title, body)
        (self.deepLink, self.webURL, self.brandID) = (deepLink, webURL, brandID)
        (self.sentAt, self.lifetime, self.privacy) = (sentAt, lifetime, privacy)
    }

    /// Seconds of the lifetime that are left; nil if it has ended.
    func secondsLeft(at now: Int64) -> Int64? {
        let left = min(lifetime, sentAt + lifetime - now)
        return left > 0 || lifetime == 0 ? max(0, left) : nil
    }
}
