// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// Encrypts a push message for one browser, in one record (RFC 8291).
struct WebPushEncryption {
    /// The largest body that each push service must take (RFC 8030 §7.2), and the record size.
    static let most = 4096
    /// The largest message, beside 86 bytes of header and the overhead of the record.
    static let mostOfMessage = most - 86 - EncryptedContent.overhead
    /// Messages are padded to multiples of this, because their length shows what they are about.
    static let step = 256

    /// A key for this message alone.
    var serverKey = P256.KeyAgreement.PrivateKey()
    var salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    /// - Parameters:
    ///   - p256dh: the browser's public key in 65 bytes.
    ///   - auth: the browser's secret in 16 bytes.
    func seal(_ message: [UInt8], p256dh: [UInt8], auth: [UInt8], padding: Int) throws -> [UInt8] {
        let browser = try P256.KeyAgreement.PublicKey(x963Representation: p256dh)
        let own = [UInt8](serverKey.publicKey.x963Representation)
        let shared = try serverKey.sharedSecretFromKeyAgreement(with: browser)
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth, sharedInfo: Array("WebPush: info\0".utf8) + p256dh + own,
            outputByteCount: 32)
        let content = EncryptedContent(salt: salt, recordSize: Self.most, keyID: own)
        return try content.seal(message, with: material, padding: padding)
    }

    /// The padding for a message of a length.
    static func padding(_ count: Int) -> Int {
        min((step - count % step) % step, max(0, mostOfMessage - count))
    }
}
