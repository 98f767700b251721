// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import Foundation
import Primitives

/// Signs requests with a secret that directory and gateway share; off unless configured.
///
/// Prints as `<redacted>`. Source: api-client-networking, "Request Signing Headers".
package struct RequestSigning: Sendable, Redacted {
    /// The application id, which is no secret.
    let id: String
    private let secret: SymmetricKey
    /// The secret, for its removal from texts.
    let revealed: String

    package init(id: String, secret: String) {
        self.id = id
        revealed = secret
        self.secret = SymmetricKey(data: Data(secret.utf8))
    }

    /// Returns the three headers of a request sent at `now`, in seconds since 1970.
    ///
    /// - Parameters:
    ///   - path: the path of the URL, with its mount and without query.
    ///   - body: the exact bytes of the body.
    func headers(method: String, path: String, body: Data, now: Int64) -> [(String, String)] {
        let time = String(now)
        let message = RequestSignature.message(id: id, method: method, path: path, body: body, time: time)
        let digits = Array("0123456789abcdef".utf8)
        let signature = HMAC<SHA256>.authenticationCode(for: message, using: secret)
        let hexadecimal = signature.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [
            (RequestSignature.idHeader, id),
            (RequestSignature.signatureHeader, String(decoding: hexadecimal, as: UTF8.self)),
            (RequestSignature.timeHeader, time),
        ]
    }
}
