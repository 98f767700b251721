// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import DirectoryStore
import Foundation
import PushSending

extension PushGateway {
    /// The longest time of one request. The four that a message by FCM may need end within the lease of its delivery.
    private static let patience = Duration.seconds(10)

    /// The services of a configuration, by their own protocols.
    ///
    /// - Throws: an error whose description has the file and the remedy.
    package init(_ configuration: PushConfiguration) throws {
        var settings = PushSettings(
            allowPrivateAddresses: configuration.allowsPrivateAddresses, timeout: Self.patience)
        var platforms: Set<PushPlatform> = []
        if let web = configuration.web {
            settings.web = try WebPushSettings(keyFile: web.keyFile, subject: web.subject)
            platforms.insert(.web)
        }
        if let apns = configuration.apns {
            settings.apns = try APNsSettings(
                key: String(decoding: try Data(contentsOf: URL(fileURLWithPath: apns.keyFile)), as: UTF8.self),
                keyID: apns.keyID, teamID: apns.teamID, topic: apns.topic,
                url: apns.isSandbox ? APNsSettings.sandbox : APNsSettings.production)
            platforms.insert(.ios)
        }
        if let fcm = configuration.fcm {
            settings.fcm = try FCMSettings(
                account: [UInt8](try Data(contentsOf: URL(fileURLWithPath: fcm.accountFile))))
            platforms.insert(.android)
        }
        let sender = try PushSender(settings)
        self.init(platforms: platforms) { notice, platform, address, key in
            guard let target = PushTarget(platform, address) else {
                return .refused(reason: "the stored address cannot be read")
            }
            return PushOutcome(await sender.send(PushMessage(notice), to: target, key: key))
        }
        publicKey = sender.vapidPublicKey
        disclosure = PushDisclosure(rawValue: configuration.privacy.rawValue) ?? .full
        let allowsPrivate = configuration.allowsPrivateAddresses
        allowsPrivateAddresses = allowsPrivate
        problem = { subscription, now in
            do throws(WebPushSubscriptionError) {
                _ = try WebPushSubscription.parse(
                    Array(subscription.utf8), allowPrivateAddresses: allowsPrivate, at: now)
                return nil
            } catch {
                return error.description
            }
        }
        stop = { await sender.shutdown() }
    }
}

extension PushTarget {
    /// Nil for an address that is not of the stored form.
    fileprivate init?(_ platform: PushPlatform, _ address: String) {
        switch platform {
        case .ios: self = .apns(token: address)
        case .android: self = .fcm(token: address)
        case .web:
            guard let subscription = WebSubscription(stored: address) else { return nil }
            self = .web(
                endpoint: subscription.endpoint, p256dh: [UInt8](subscription.key), auth: [UInt8](subscription.secret))
        }
    }
}

extension PushMessage {
    fileprivate init(_ notice: PushNotice) {
        self.init(
            kind: PushKind(notice.kind), tag: notice.tag, title: notice.title, body: notice.body,
            deepLink: notice.deepLink, webURL: notice.webURL, brandID: notice.brandID, sentAt: notice.sentAt,
            lifetime: notice.lifetime, privacy: PushPrivacy(notice.disclosure))
    }
}

extension PushKind {
    fileprivate init(_ kind: PushNotice.Kind) {
        switch kind {
        case .missedCall: self = .missedCall
        case .callReturned: self = .callReturned
        case .brandChanged: self = .brandChanged
        case .test: self = .test
        }
    }
}

extension PushPrivacy {
    fileprivate init(_ disclosure: PushDisclosure) {
        switch disclosure {
        case .full: self = .full
        case .name: self = .name
        case .silent: self = .silent
        }
    }
}

extension PushOutcome {
    fileprivate init(_ result: PushResult) {
        switch result {
        case .delivered(let id): self = .delivered(id: id)
        case .gone(let reason): self = .gone(reason: reason)
        case .later(let after, let reason): self = .later(after: after, reason: reason)
        case .refused(let reason): self = .refused(reason: reason)
        case .tooLarge: self = .tooLarge
        }
    }
}
