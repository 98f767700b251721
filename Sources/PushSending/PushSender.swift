// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Foundation

/// Sends push messages to browsers and phones, each attempt once.
///
/// It stores nothing and repeats nothing: the caller has the outbox, and acts on each result. Safe from any thread;
/// `shutdown` must be the last call.
package final class PushSender: Sendable {
    /// The system's clock, in seconds since 1970.
    package static let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    private let post: CheckedPost
    private let web: WebPushSender?
    private let apns: APNsSender?
    private let fcm: FCMSender?
    private let now: @Sendable () -> Int64

    /// - Parameter now: seconds since 1970.
    /// - Throws: `PushSettingsError` for an address that cannot be used.
    package init(
        _ settings: PushSettings,
        now: @escaping @Sendable () -> Int64 = PushSender.clock
    ) throws(PushSettingsError) {
        let post = CheckedPost(
            mostBytes: 65_536, connect: settings.timeout, total: settings.timeout,
            allowsPrivate: settings.allowPrivateAddresses, roots: settings.roots, resolve: settings.resolve)
        let allowsPrivate = settings.allowPrivateAddresses
        self.post = post
        self.now = now
        if let own = settings.web {
            web = WebPushSender(settings: own, allowsPrivate: allowsPrivate, post: post)
        } else {
            web = nil
        }
        if let own = settings.apns {
            apns = try APNsSender(own, allowsPrivate: allowsPrivate, post: post)
        } else {
            apns = nil
        }
        if let own = settings.fcm {
            fcm = try FCMSender(own, allowsPrivate: allowsPrivate, post: post)
        } else {
            fcm = nil
        }
    }

    /// The key that browsers subscribe with, 65 bytes in base64url; nil without Web Push.
    package var vapidPublicKey: String? { web?.publicKey }

    /// Sends a message to one device.
    ///
    /// - Parameter key: the name of this message for this device. Another attempt has the same key.
    package func send(_ message: PushMessage, to target: PushTarget, key: String) async -> PushResult {
        let now = now()
        guard let left = message.secondsLeft(at: now) else { return .expired }
        switch target {
        case .web(let endpoint, let p256dh, let auth):
            guard let web else { return Self.missing("Web Push") }
            return await web.send(message, to: endpoint, p256dh: p256dh, auth: auth, left: left, at: now)
        case .apns(let token):
            guard let apns else { return Self.missing("APNs") }
            return await apns.send(message, to: token, key: key, left: left, at: now)
        case .fcm(let token):
            guard let fcm else { return Self.missing("FCM") }
            return await fcm.send(message, to: token, left: left, at: now)
        }
    }

    /// Closes all connections.
    package func shutdown() async { await post.shutdown() }

    private static func missing(_ service: String) -> PushResult {
        .refused(reason: "\(service) is not configured")
    }
}
