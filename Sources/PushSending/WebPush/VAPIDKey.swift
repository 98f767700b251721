// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Glibc
import Primitives

/// The key pair by which push services know this server (RFC 8292). Subscriptions are bound to it. Prints as `<redacted>`.
package struct VAPIDKey: Sendable, Redacted {
    let key: P256.Signing.PrivateKey

    /// Makes a new key.
    package init() { key = P256.Signing.PrivateKey() }

    /// Reads a key in PEM.
    package init(pem: String) throws(PushSettingsError) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw PushSettingsError("the key of Web Push is no private key of P-256 in PEM")
        }
        self.key = key
    }

    /// Reads the key of a file. Without the file it makes a key and writes it, readable for its owner alone.
    ///
    /// Several processes may do so at the same time and get the same key.
    package static func stored(at path: String) throws(PushSettingsError) -> VAPIDKey {
        if let key = try read(path) { return key }
        let key = VAPIDKey()
        // A name of its own: another process may be at the same point.
        let draft = "\(path).\(UInt64.random(in: .min ... .max))"
        do throws(FileReplacementError) {
            try PrivateFile.write(Array(key.pem.utf8), to: draft)
            defer { unlink(draft) }
            if link(draft, path) != 0 { throw FileReplacementError(path: path, code: errno) }
        } catch {
            if error.code == EEXIST, let other = try read(path) { return other }
            throw PushSettingsError("the key of Web Push cannot be made: \(error)")
        }
        return key
    }

    /// The key in PEM.
    package var pem: String { key.pemRepresentation + "\n" }

    /// The public key that browsers subscribe with, 65 bytes in base64url.
    package var publicKey: String { Base64URL.encode(key.publicKey.x963Representation) }

    /// Nil if there is no file.
    private static func read(_ path: String) throws(PushSettingsError) -> VAPIDKey? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            guard access(path, F_OK) == 0 else { return nil }
            throw PushSettingsError("\(path), the key of Web Push, cannot be read; check its owner and mode")
        }
        do throws(PushSettingsError) {
            return try VAPIDKey(pem: text)
        } catch {
            throw PushSettingsError(
                "\(path) is no private key of P-256 in PEM; restore it, or remove it, and all browsers subscribe again")
        }
    }
}
