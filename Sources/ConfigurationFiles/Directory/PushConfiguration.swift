// SPDX-License-Identifier: Apache-2.0

/// The push services of a directory, for messages to phones and browsers of called people.
package struct PushConfiguration: Hashable, Sendable {
    /// Web Push (RFC 8030), for browsers.
    package var web: Web?
    /// Apple's service, for apps.
    package var apns: APNs?
    /// Firebase, for apps.
    package var fcm: FCM?
    package var privacy = Privacy.full
    /// True accepts subscriptions without TLS and of private addresses, for tests.
    package var allowsPrivateAddresses = false

    package init() {}

    /// The part of a message that a lock screen shows, where the device makes no choice.
    package enum Privacy: String, Hashable, Sendable, CaseIterable {
        case full, name, silent
    }

    package struct Web: Hashable, Sendable {
        /// A mailto: or https: URL at which push services reach the operator (RFC 8292 §2.1).
        package var subject: String
        /// Absolute path of the private key, P-256 in PEM.
        package var keyFile: String
    }

    package struct APNs: Hashable, Sendable {
        /// Absolute path of the signing key, PKCS 8 in PEM.
        package var keyFile: String
        package var keyID: String
        package var teamID: String
        /// The identifier of the app.
        package var topic: String
        /// True for apps under development.
        package var isSandbox: Bool
    }

    package struct FCM: Hashable, Sendable {
        /// Absolute path of the service account, JSON.
        package var accountFile: String
    }
}

extension PushConfiguration.Privacy: ConfigurationWord {}

/// Reads `push` of `herald-directory.yaml`.
enum PushSchema {
    static func read(_ section: ConfigurationSection, _ file: ConfigurationFile) -> PushConfiguration? {
        var push = PushConfiguration()
        push.web = section.section("web") { web($0, file) }
        push.apns = section.section("apns") { apns($0, file) }
        push.fcm = section.section("fcm") { section in
            path("account_file", "/etc/herald/fcm.json", section, file).map { PushConfiguration.FCM(accountFile: $0) }
        }
        push.privacy = section.choice("privacy", default: push.privacy)
        push.allowsPrivateAddresses = section.bool("allow_private_addresses", default: false)
        if !section.has("web"), !section.has("apns"), !section.has("fcm") {
            section.problem("web", "is missing; push needs one of web, apns and fcm")
        }
        return push
    }

    private static func web(_ section: ConfigurationSection, _ file: ConfigurationFile) -> PushConfiguration.Web? {
        let subject = section.string("subject", form: "a mailto: or https: URL of the operator", isSubject)
        if subject == nil, !section.has("subject") { section.missing("subject", "mailto:ops@example.com") }
        guard let path = path("key_file", "/etc/herald/push-key.pem", section, file), let subject else { return nil }
        return .init(subject: subject, keyFile: path)
    }

    private static func apns(_ section: ConfigurationSection, _ file: ConfigurationFile) -> PushConfiguration.APNs? {
        let path = path("key_file", "/etc/herald/apns.p8", section, file)
        let names = [("key_id", "ABC123DEFG"), ("team_id", "DEF123GHIJ"), ("topic", "com.example.app")].map {
            name(section, $0, $1)
        }
        let isSandbox = section.bool("sandbox", default: false)
        guard let path, let key = names[0], let team = names[1], let topic = names[2] else { return nil }
        return .init(keyFile: path, keyID: key, teamID: team, topic: topic, isSandbox: isSandbox)
    }

    private static func name(_ section: ConfigurationSection, _ key: String, _ example: String) -> String? {
        let value = section.string(key, form: WordForm.name, WordForm.isName)
        if value == nil, !section.has(key) { section.missing(key, example) }
        return value
    }

    private static func path(
        _ key: String, _ example: String, _ section: ConfigurationSection, _ file: ConfigurationFile
    ) -> String? {
        guard let path = section.string(key).map(file.resolved) else {
            if !section.has(key) { section.missing(key, example) }
            return nil
        }
        section.checkReadable(key, path)
        return path
    }

    private static func isSubject(_ text: String) -> Bool {
        (text.hasPrefix("mailto:") && text.utf8.count > 8 && text.contains("@") && !text.contains(" "))
            || (text.hasPrefix("https://") && URLForm.isDirectory(text))
    }
}
