// SPDX-License-Identifier: Apache-2.0

package import DirectoryStore

/// The push services of a directory, as its service and its routes use them.
package struct PushGateway: Sendable {
    /// Sends one message.
    ///
    /// The key is the same for each attempt, and never the same for another device or message. It returns within the
    /// lease of a delivery.
    package typealias Send =
        @Sendable (_ notice: PushNotice, _ platform: PushPlatform, _ address: String, _ key: String) async ->
        PushOutcome

    /// The services that the configuration has.
    package var platforms: Set<PushPlatform>
    /// The public key of Web Push (RFC 8292) in base64url; nil without it.
    package var publicKey: String?
    /// The choice of devices that make none.
    package var disclosure = PushDisclosure.full
    /// The scheme of links into an app, in force at the moment.
    package var linkScheme: @Sendable () -> String = { "herald" }
    /// True lets subscriptions name addresses without TLS and of this network, for tests.
    package var allowsPrivateAddresses = false
    /// The problem of a subscription as a browser sends it; nil if messages can be sent to it.
    package var problem: @Sendable (_ subscription: String, _ now: Int64?) -> String? = { _, _ in nil }
    package var send: Send
    /// Closes the connections.
    package var stop: @Sendable () async -> Void = {}

    package init(platforms: Set<PushPlatform>, send: @escaping Send) {
        (self.platforms, self.send) = (platforms, send)
    }
}

/// The result of one attempt.
package enum PushOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The push service has the message.
    case delivered(id: String?)
    /// The push service does not know the device any more.
    case gone(reason: String)
    /// The push service may take the message later, at the earliest after its own time.
    case later(after: Duration?, reason: String)
    /// No attempt can succeed.
    case refused(reason: String)
    /// The message is larger than the service takes.
    case tooLarge

    /// The result for people; its reason may have texts of the push service.
    package var description: String {
        switch self {
        case .delivered: "the push service has the message"
        case .gone(let reason): "the push service does not know the device any more: \(reason)"
        case .later(_, let reason): "the push service takes no messages now: \(reason)"
        case .refused(let reason): "the push service refuses the message: \(reason)"
        case .tooLarge: "the message is larger than the push service takes"
        }
    }

    /// The value of a label and of `error_type`.
    var label: String {
        switch self {
        case .delivered: "delivered"
        case .gone: "unregistered"
        case .later: "service_unavailable"
        case .refused: "refused"
        case .tooLarge: "too_large"
        }
    }
}

extension PushPlatform {
    /// The name of the service for people.
    var service: String {
        switch self {
        case .web: "Web Push"
        case .ios: "APNs"
        case .android: "FCM"
        }
    }
}
