// SPDX-License-Identifier: Apache-2.0

import CryptoExtras

/// A service account of a Firebase project. Its key prints as `<redacted>`.
package struct FCMSettings: Sendable {
    package static let production = "https://fcm.googleapis.com"

    private struct Account: Decodable {
        var type: String
        var project_id: String
        var private_key_id: String
        var private_key: String
        var client_email: String
        var token_uri: String
    }

    let project: String
    let key: _RSA.Signing.PrivateKey
    let keyID: String
    let email: String
    let tokenURL: String
    let url: String
    let icon: String
    let color: String?

    /// - Parameters:
    ///   - account: the JSON file of the service account.
    ///   - icon: the name of the notification's icon in the app.
    ///   - color: its colour as `#rrggbb`.
    package init(
        account: [UInt8], url: String = FCMSettings.production, icon: String = "ic_notification", color: String? = nil
    ) throws(PushSettingsError) {
        guard let account = PushJSON.value(Account.self, in: account), account.type == "service_account" else {
            throw PushSettingsError(
                "the file of FCM is not the JSON of a service account; make a key in the console of Firebase")
        }
        guard !account.project_id.isEmpty, account.project_id.utf8.allSatisfy({ Self.isOfProject($0) }) else {
            throw PushSettingsError("the project_id of the service account of FCM is no name of a project")
        }
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: account.private_key) else {
            throw PushSettingsError("the private_key of the service account of FCM is no RSA key of 2,048 bits in PEM")
        }
        (project, self.key, keyID) = (account.project_id, key, account.private_key_id)
        (email, tokenURL) = (account.client_email, account.token_uri)
        (self.url, self.icon, self.color) = (url, icon, color)
    }

    private static func isOfProject(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || "-.:".utf8.contains(byte)
    }
}
