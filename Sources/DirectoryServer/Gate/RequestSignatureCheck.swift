// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// The check of signed requests.
extension SigningKey {
    /// Checks the three headers against the request; the body is read and kept.
    ///
    /// The time may differ by `RequestSignature.tolerance`. Within it a request can be replayed; event keys and nonces
    /// of the contract make that harmless.
    ///
    /// - Throws: `Refusal` (401, or 413 for a body above the limit).
    func check(_ request: inout Request, now: Int64) async throws {
        guard let id = Self.header(RequestSignature.idHeader, request),
            let signature = Self.header(RequestSignature.signatureHeader, request),
            let time = Self.header(RequestSignature.timeHeader, request)
        else { throw Self.refusal("This key signs its requests: X-Api-Id, X-Signature and X-Nonce are required") }
        guard id == self.id else { throw Self.refusal("X-Api-Id is not the id of this key") }
        guard time.utf8.count <= 12, let seconds = Int64(time), abs(seconds - now) <= RequestSignature.tolerance else {
            throw Self.refusal(
                "X-Nonce is more than \(RequestSignature.tolerance) seconds away from this server's time")
        }
        let body = try await JSONBody.collect(&request)
        let message = RequestSignature.message(
            id: id, method: request.method.rawValue, path: request.uri.path, body: body.readableBytesView, time: time)
        guard signature.utf8.count <= 128, let code = Hexadecimal.bytes(signature),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: message, using: SymmetricKey(data: secret))
        else { throw Self.refusal("X-Signature does not fit this request") }
    }

    private static func header(_ name: String, _ request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    private static func refusal(_ message: String) -> Refusal {
        var refusal = Refusal(.unauthorized, message, code: AuthenticationCode.invalidSignature)
        refusal.guidance = "Check the signing secret and this machine's clock"
        return refusal
    }
}
