// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation

/// Signs JSON Web Tokens in the compact form (RFC 7515 §7.1, RFC 7519).
enum JSONWebToken {
    /// A key with its algorithm (RFC 7518 §3.1).
    enum Key: Sendable {
        case es256(P256.Signing.PrivateKey)
        /// RSASSA-PKCS1-v1_5, which Google's tokens require.
        case rs256(_RSA.Signing.PrivateKey)
    }

    private struct Header: Encodable {
        var alg: String
        var kid: String?
        var typ: String?
    }

    /// - Parameters:
    ///   - id: the header's `kid`.
    ///   - type: the header's `typ`.
    static func sign(
        _ claims: some Encodable, with key: Key, id: String? = nil, type: String? = "JWT"
    ) throws -> String {
        let name =
            switch key {
            case .es256: "ES256"
            case .rs256: "RS256"
            }
        let header = try PushJSON.bytes(Header(alg: name, kid: id, typ: type))
        let input = Base64URL.encode(header) + "." + Base64URL.encode(try PushJSON.bytes(claims))
        let signed = Data(input.utf8)
        let signature =
            switch key {
            case .es256(let key): try key.signature(for: signed).rawRepresentation
            case .rs256(let key): try key.signature(for: signed, padding: .insecurePKCS1v1_5).rawRepresentation
            }
        return input + "." + Base64URL.encode(signature)
    }
}
