// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The key of an Apple developer account and the app that receives messages. Its key prints as `<redacted>`.
package struct APNsSettings: Sendable {
    /// Apple's service for apps of the App Store.
    package static let production = "https://api.push.apple.com"
    /// Apple's service for apps under development.
    package static let sandbox = "https://api.sandbox.push.apple.com"

    let key: P256.Signing.PrivateKey
    let keyID: String
    let teamID: String
    let topic: String
    let url: String

    /// - Parameters:
    ///   - key: the `.p8` file of the account, a private key in PEM.
    ///   - keyID: the ten characters in the name of that file.
    ///   - teamID: the ten characters of the team.
    ///   - topic: the bundle id of the app.
    package init(
        key: String, keyID: String, teamID: String, topic: String, url: String = APNsSettings.production
    ) throws(PushSettingsError) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: key) else {
            throw PushSettingsError("the key of APNs is no private key of P-256 in PEM; download the .p8 file again")
        }
        for (name, text) in [("key id", keyID), ("team id", teamID), ("topic", topic)]
        where text.isEmpty || text.utf8.count > 200 || !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw PushSettingsError("the \(name) of APNs is empty or has a character outside of ASCII")
        }
        (self.key, self.keyID, self.teamID, self.topic, self.url) = (key, keyID, teamID, topic, url)
    }
}
