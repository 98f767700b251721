// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import DirectoryStore

/// A message before it takes the form of a push service.
package struct PushNotice: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case missedCall = "missed_call"
        case callReturned = "call_returned"
        case brandChanged = "brand_changed"
        case test
    }

    package var kind: Kind
    /// A later message with the same tag takes the place of this one on the device.
    package var tag: String
    package var title: String
    package var body: String
    package var deepLink: String
    /// The card of the brand; nil without `public_url`.
    package var webURL: String?
    package var brandID: String?
    /// Seconds since 1970.
    package var sentAt: Int64
    /// Seconds after `sentAt` for which a push service keeps it.
    package var lifetime: Int64
    package var disclosure: PushDisclosure
}

extension PushNotice {
    /// The message of a delivery. Its texts have no more than the device discloses.
    init(_ delivery: PushDelivery, _ gateway: PushGateway, publicURL: String?) {
        let disclosure = delivery.isWithdrawal ? .silent : delivery.disclosure ?? gateway.disclosure
        let texts = Self.texts(delivery, disclosure)
        kind = Kind(delivery.topic)
        tag = delivery.key
        (title, body) = texts
        // An identifier that no link can have opens the app alone.
        let link = delivery.topic == .brandChanged ? DeepLink(.brand, delivery.brandID) : DeepLink(.call, delivery.key)
        deepLink = link?.text(scheme: gateway.linkScheme()) ?? "\(gateway.linkScheme())://"
        let isNamed = disclosure != .silent
        webURL = isNamed ? publicURL.flatMap { CardURL.text(base: $0, brandID: delivery.brandID) } : nil
        brandID = isNamed ? delivery.brandID : nil
        sentAt = delivery.sentAt
        lifetime = delivery.expires - delivery.sentAt
        self.disclosure = disclosure
    }

    /// The message of a test.
    ///
    /// - Parameter now: seconds since 1970.
    static func test(_ id: String, _ gateway: PushGateway, publicURL: String?, now: Int64) -> PushNotice {
        PushNotice(
            kind: .test, tag: id, title: "Test message", body: "Push messages reach this device.",
            deepLink: "\(gateway.linkScheme())://test/\(id)", webURL: publicURL, brandID: nil, sentAt: now,
            lifetime: 300,
            disclosure: .full)
    }

    private static func texts(_ delivery: PushDelivery, _ disclosure: PushDisclosure) -> (title: String, body: String) {
        if delivery.isWithdrawal { return ("Answered or returned", "") }
        let name = delivery.brandName
        switch (delivery.topic, disclosure) {
        case (.missedCall, .full): return ("\(name) tried to reach you", delivery.reason ?? "Missed call")
        case (.missedCall, .name): return ("\(name) tried to reach you", "Missed call")
        case (.missedCall, .silent): return ("Missed call", "")
        case (.callReturned, .full), (.callReturned, .name): return ("\(name)", "A person has called back")
        case (.callReturned, .silent): return ("Call returned", "")
        case (.brandChanged, .full), (.brandChanged, .name): return ("\(name)", "This brand has a new name or logo")
        case (.brandChanged, .silent): return ("Brand changed", "")
        }
    }
}

extension PushNotice.Kind {
    init(_ topic: PushTopic) {
        switch topic {
        case .missedCall: self = .missedCall
        case .callReturned: self = .callReturned
        case .brandChanged: self = .brandChanged
        }
    }
}
