// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// Encrypts a body with the content coding `aes128gcm` (RFC 8188).
struct EncryptedContent {
    /// Bytes of a record beside its content: the delimiter and the tag of AES-GCM.
    static let overhead = 17

    /// 16 bytes that no other body has.
    let salt: [UInt8]
    /// The size of all records but the last one, at least 18 bytes.
    let recordSize: Int
    /// The name of the key, at most 255 bytes.
    let keyID: [UInt8]

    /// - Parameter padding: bytes of zero that hide the length, placed in the first records.
    func seal(_ content: [UInt8], with material: SymmetricKey, padding: Int = 0) throws -> [UInt8] {
        let key = derive(16, "aes128gcm", material)
        let nonce = derive(12, "nonce", material).withUnsafeBytes { [UInt8]($0) }
        var body = salt + withUnsafeBytes(of: UInt32(recordSize).bigEndian) { [UInt8]($0) }
        body += [UInt8(keyID.count)] + keyID
        var (rest, zeros, sequence, isLast) = (content[...], padding, UInt64(0), false)
        while !isLast {
            let space = recordSize - Self.overhead
            let pad = min(zeros, rest.isEmpty ? space : space - 1)
            let part = rest.prefix(space - pad)
            (rest, zeros) = (rest.dropFirst(part.count), zeros - pad)
            isLast = rest.isEmpty && zeros == 0
            let record = Array(part) + [isLast ? 2 : 1] + [UInt8](repeating: 0, count: pad)
            let sealed = try AES.GCM.seal(record, using: key, nonce: Self.nonce(nonce, sequence))
            body += sealed.ciphertext + sealed.tag
            sequence += 1
        }
        return body
    }

    /// The keys of RFC 8188 §2.2 and §2.3.
    private func derive(_ count: Int, _ name: String, _ material: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: salt, info: Array("Content-Encoding: \(name)\0".utf8),
            outputByteCount: count)
    }

    private static func nonce(_ base: [UInt8], _ sequence: UInt64) throws -> AES.GCM.Nonce {
        var bytes = base
        for place in 0..<8 { bytes[11 - place] ^= UInt8(truncatingIfNeeded: sequence >> (8 * UInt64(place))) }
        return try AES.GCM.Nonce(data: bytes)
    }
}
