// SPDX-License-Identifier: Apache-2.0

/// What a signed request signs, and the headers it carries.
///
/// `X-Signature` is the HMAC-SHA256, in lower-case hexadecimal, of application id, method, path, body and time, one
/// behind the other with nothing between. The source names no encoding; hexadecimal is what survives every header.
/// Source: api-client-networking, "Request Signing Headers".
package enum RequestSignature {
    /// The application id.
    package static let idHeader = "X-Api-Id"
    package static let signatureHeader = "X-Signature"
    /// Seconds since 1970, in digits; the time that is signed.
    package static let timeHeader = "X-Nonce"
    /// How far a signed time may be from the server's, in seconds, either way.
    package static let tolerance: Int64 = 300

    /// The bytes to sign.
    ///
    /// - Parameters:
    ///   - path: of the URL, with a leading slash and with the mount, without query.
    ///   - time: the value of `X-Nonce`, to the letter.
    package static func message(
        id: String, method: String, path: String, body: some Collection<UInt8>, time: String
    ) -> [UInt8] {
        Array(id.utf8) + Array(method.utf8) + Array(path.utf8) + Array(body) + Array(time.utf8)
    }
}
