// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import PushSending
import Testing

/// The present of the tests, in seconds since 1970.
let present: Int64 = 1_767_225_600

/// A call at a desk phone that nobody took.
func missedCall(_ change: (inout PushMessage) -> Void = { _ in }) -> PushMessage {
    var message = PushMessage(
        kind: .missedCall, tag: "clx7g8h9i0j1k2l3m4n5o6p7", title: "Harbour Dental tried to reach you",
        body: "Your appointment tomorrow", deepLink: "herald://brand/clx8h9i0j1k2l3m4n5o6p7q8",
        webURL: "https://branding.example/card/harbour-dental", brandID: "clx8h9i0j1k2l3m4n5o6p7q8", sentAt: present,
        lifetime: 3600)
    change(&message)
    return message
}

/// Reads base64url without the code under test.
func bytes(_ base64url: String) throws -> [UInt8] {
    let standard = base64url.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
    return [UInt8](try #require(Data(base64Encoded: padded), "\(base64url)"))
}

func text(_ base64url: some StringProtocol) throws -> String {
    String(decoding: try bytes(String(base64url)), as: UTF8.self)
}

/// Writes base64url without the code under test.
func base64url(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}

/// A signed token in its parts, with the signature verified.
struct CheckedToken {
    let header: String
    let claims: String

    /// - Parameter key: 65 bytes of a key of P-256.
    init(_ token: some StringProtocol, key: [UInt8]) throws {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let key = try P256.Signing.PublicKey(x963Representation: key)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes(String(parts[2])))
        #expect(key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
        (header, claims) = (try text(parts[0]), try text(parts[1]))
    }
}

/// The browser's side of a subscription: decrypts by RFC 8291 §3.4 and RFC 8188 §2.
struct Browser {
    var key = P256.KeyAgreement.PrivateKey()
    var auth = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    var publicKey: [UInt8] { [UInt8](key.publicKey.x963Representation) }

    func target(_ endpoint: String) -> PushTarget { .web(endpoint: endpoint, p256dh: publicKey, auth: auth) }

    func json(_ endpoint: String) -> String {
        """
        {"endpoint":"\(endpoint)","expirationTime":null,"keys":{"p256dh":"\(base64url(publicKey))","auth":"\(base64url(auth))"}}
        """
    }

    /// The message of a body, without its padding.
    func open(_ body: [UInt8]) throws -> [UInt8] {
        let length = Int(try #require(body.dropFirst(20).first))
        #expect(Array(body[16..<20]) == [0, 0, 16, 0] && length == 65, "record size and key")
        let (salt, server, record) = (body[0..<16], body[21..<(21 + length)], body[(21 + length)...])
        let secret = try key.sharedSecretFromKeyAgreement(with: .init(x963Representation: server))
        let material = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth, sharedInfo: Array("WebPush: info\0".utf8) + publicKey + server,
            outputByteCount: 32)
        let content = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8),
            outputByteCount: 16)
        let nonce = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        let box = try AES.GCM.SealedBox(
            nonce: .init(data: nonce.withUnsafeBytes { [UInt8]($0) }), ciphertext: record.dropLast(16),
            tag: record.suffix(16))
        var plain = [UInt8](try AES.GCM.open(box, using: content))
        while plain.last == 0 { plain.removeLast() }
        #expect(plain.last == 2, "the last record")
        return plain.dropLast()
    }
}
