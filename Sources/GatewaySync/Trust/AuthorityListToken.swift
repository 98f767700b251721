// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// A signed list of authorities in the form of the STI-PA: a JWT, alone or as `caList` of a JSON object (ATIS-1000084).
package struct AuthorityListToken: Sendable {
    /// The reason for which a list is refused, with the remedy.
    package struct Refusal: Error {
        package var reason: String
        /// The address of a certificate that may verify the list after all; nil if no other one can.
        package var signer: String?

        package init(reason: String, signer: String? = nil) {
            self.reason = reason
            self.signer = signer
        }
    }

    /// The number of the list, which grows.
    package let sequence: Int64
    /// The end of the list in Unix time.
    package let expires: Int64
    /// The certificates of the authorities in DER; at least one.
    package let authorities: [[UInt8]]
    /// The token alone.
    package let token: String

    private struct Response: Decodable {
        var status: String?
        var caList: String
    }

    private struct Header: Decodable {
        var alg: String
        var x5u: String?
        var x5c: [String]?

        /// The address of the signer's certificate; nil for a token that brings its chain.
        var signer: String? { x5c == nil ? x5u : nil }
    }

    private struct Payload: Decodable {
        var sequence: Int64
        var exp: Int64
        var trustList: [String]
    }

    /// True for a text of the form of a JWT.
    static func isToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Verifies a list.
    ///
    /// - Parameters:
    ///   - text: the file.
    ///   - roots: the certificates in DER that the signer's chain must reach.
    ///   - now: the time of the check in Unix seconds.
    ///   - chain: the chain in DER of the certificate at an address; nil if there is none.
    /// - Throws: `Refusal` for a wrong form, a wrong or unknown signer, an empty list, or an unreadable certificate in it.
    package static func verified(
        _ text: String, roots: [[UInt8]], at now: Int64, chain: (String) -> [[UInt8]]?
    ) async throws(Refusal) -> AuthorityListToken {
        let token = try token(of: text)
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header: Header = decoded(parts[0]), let signature = base64(parts[2])
        else { throw Refusal(reason: "is no signed token") }
        guard header.alg == "ES256" else { throw Refusal(reason: "is signed by \(clean(header.alg)) and not by ES256") }
        let signer = try await signer(header, roots, now, chain)
        guard let key = P256.Signing.PublicKey(signer.publicKey),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else {
            throw Refusal(reason: "its signature is not by \(clean("\(signer.subject)"))", signer: header.signer)
        }
        guard let payload: Payload = decoded(parts[1]) else {
            throw Refusal(reason: "lacks sequence, exp or trustList")
        }
        guard !payload.trustList.isEmpty else {
            throw Refusal(reason: "has no authority, and no list takes the last one away")
        }
        var authorities: [[UInt8]] = []
        for (position, pem) in payload.trustList.enumerated() {
            var material = TrustMaterial()
            material.add(Array(pem.utf8), of: "")
            guard material.authorities.count == 1 else {
                throw Refusal(reason: "its authority \(position + 1) is no certificate of an authority")
            }
            authorities += material.authorities
        }
        return AuthorityListToken(
            sequence: payload.sequence, expires: payload.exp, authorities: authorities, token: token)
    }

    /// The authorities of a list that was verified when it was stored.
    package static func stored(_ token: String) -> [[UInt8]] {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let payload: Payload = decoded(parts[1]) else { return [] }
        var material = TrustMaterial()
        for pem in payload.trustList { material.add(Array(pem.utf8), of: "") }
        return material.authorities
    }

    /// The token out of a response of the STI-PA; any other text as it is.
    static func bare(_ text: String) -> String { (try? token(of: text)) ?? text }

    private static func token(of text: String) throws(Refusal) -> String {
        guard text.hasPrefix("{") else { return text }
        guard let response = try? JSONDecoder().decode(Response.self, from: Data(text.utf8)) else {
            throw Refusal(reason: "has no caList")
        }
        if let status = response.status, status != "success" {
            throw Refusal(reason: "is a response with the status \(clean(status)) and not success")
        }
        return response.caList
    }

    /// The signer: the certificate in the token, that at its address, or one of the roots itself.
    private static func signer(
        _ header: Header, _ roots: [[UInt8]], _ now: Int64, _ chain: (String) -> [[UInt8]]?
    ) async throws(Refusal) -> Certificate {
        let own = header.x5c.map { $0.compactMap { Data(base64Encoded: $0).map { Array($0) } } }
        guard let chain = own ?? header.x5u.flatMap(chain) else {
            let address = header.x5u.map { clean($0) } ?? ""
            throw Refusal(
                reason: "the certificate of its signer is not known; import it with the line x5u: \(address)",
                signer: header.signer)
        }
        let certificates = chain.compactMap { try? Certificate(derEncoded: $0) }
        let anchors = roots.compactMap { try? Certificate(derEncoded: $0) }
        guard let leaf = certificates.first else {
            throw Refusal(reason: "the certificate of its signer cannot be read", signer: header.signer)
        }
        let time = Date(timeIntervalSince1970: TimeInterval(now))
        var verifier = Verifier(rootCertificates: CertificateStore(anchors)) {
            RFC5280Policy(fixedExpiryValidationTime: time)
        }
        let result = await verifier.validate(
            leaf: leaf, intermediates: CertificateStore(certificates.dropFirst()))
        guard case .validCertificate = result else {
            throw Refusal(
                reason: "its signer \(clean("\(leaf.subject)")) has no valid chain to list_root", signer: header.signer)
        }
        return leaf
    }

    private static func clean(_ text: String) -> String { ServerText.clean(text) }

    private static func decoded<Value: Decodable>(_ part: String) -> Value? {
        base64(part).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    /// The bytes of base64url.
    private static func base64(_ part: String) -> Data? {
        let text = part.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}
