// SPDX-License-Identifier: Apache-2.0

/// Web Push: the server's key and its contact.
package struct WebPushSettings: Sendable {
    let key: VAPIDKey
    let subject: String

    /// - Parameters:
    ///   - subject: `mailto:` or `https:` URL at which a push service reaches the operator (RFC 8292 §2.1).
    package init(key: VAPIDKey, subject: String) throws(PushSettingsError) {
        guard subject.utf8.count <= 200, subject.hasPrefix("mailto:") || subject.hasPrefix("https://"),
            subject.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw PushSettingsError(
                "the contact of Web Push is no mailto: or https: URL; Apple's push service requires one")
        }
        (self.key, self.subject) = (key, subject)
    }

    /// Reads the key of a file, and makes it on the first start.
    package init(keyFile: String, subject: String) throws(PushSettingsError) {
        try self.init(key: VAPIDKey.stored(at: keyFile), subject: subject)
    }
}
