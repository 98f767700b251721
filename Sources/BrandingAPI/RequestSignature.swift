// SPDX-License-Identifier: Apache-2.0

/// The signed text and the headers of a signed request.
///
/// `X-Signature` is an HMAC-SHA256 in lower-case hexadecimal. It covers application id, method, path, body and time,
/// concatenated without separators. The source names no encoding; hexadecimal is safe in every header. Source:
/// api-client-networking, "Request Signing Headers".
package enum RequestSignature {
    /// Header of the application id.
    package static let idHeader = "X-Api-Id"
    /// Header of the signature.
    package static let signatureHeader = "X-Signature"
    /// Header of the signed time: seconds since 1970 in digits.
    package static let timeHeader = "X-Nonce"
    /// Largest difference between the signed time and the server's time, in seconds, in either direction.
    package static let tolerance: Int64 = 300

    /// Returns the bytes to sign.
    ///
    /// - Parameters:
    ///   - path: path of the URL with a leading slash and the mount point, without the query.
    ///   - time: the value of `X-Nonce`, unchanged.
    package static func message(
        id: String, method: String, path: String, body: some Collection<UInt8>, time: String
    ) -> [UInt8] {
        Array(id.utf8) + Array(method.utf8) + Array(path.utf8) + Array(body) + Array(time.utf8)
    }
}
