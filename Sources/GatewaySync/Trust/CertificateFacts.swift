// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Primitives
import SwiftASN1
import Trust
import X509

/// The extensions of signers' certificates (RFC 8226 §8 and §9, RFC 9118 §3).
enum SignerExtension {
    static let authority: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 26]
    static let constraints: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 27]
    static let enhancedConstraints: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 33]

    /// Critical extensions whose rules are kept here or by `RFC5280Policy`.
    static let understood: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.subjectKeyIdentifier, .X509ExtensionID.authorityKeyIdentifier, authority, constraints,
        enhancedConstraints,
    ]
}

/// Properties of one certificate that the policy for signers reads.
struct CertificateFacts {
    let certificate: Certificate

    init(_ certificate: Certificate) { self.certificate = certificate }

    /// True if the bytes are the certificate of an authority.
    static func isAuthority(_ der: [UInt8]) -> Bool {
        (try? Certificate(derEncoded: der)).map { CertificateFacts($0).isAuthority } ?? false
    }

    /// The certificate in DER.
    var der: [UInt8] {
        var serializer = DER.Serializer()
        try? serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// Whether the certificate may issue others by its basic constraints.
    var isAuthority: Bool {
        guard let constraints = try? certificate.extensions.basicConstraints else { return false }
        if case .isCertificateAuthority = constraints { return true }
        return false
    }

    /// The contents of the TNAuthList; nil without one.
    var authorityBytes: [UInt8]? { certificate.extensions[oid: SignerExtension.authority].map { Array($0.value) } }

    /// The readable TNAuthList; nil without one.
    var authority: AuthorityList? { authorityBytes.flatMap { AuthorityList(der: $0) } }

    /// The contents of the constraints; nil without them.
    var constraints: ChainDecision.Constraint? {
        if let plain = certificate.extensions[oid: SignerExtension.constraints] {
            return .init(der: Array(plain.value), isEnhanced: false)
        }
        return certificate.extensions[oid: SignerExtension.enhancedConstraints].map {
            .init(der: Array($0.value), isEnhanced: true)
        }
    }

    /// The reason for which the certificate cannot be judged at all; nil for a sound one (RFC 5280 §4.2, RFC 9118 §5).
    var damage: String? {
        let extensions = certificate.extensions
        if let unknown = extensions.first(where: { $0.critical && !SignerExtension.understood.contains($0.oid) }) {
            return "\(name) has the unknown critical extension \(unknown.oid)"
        }
        if extensions[oid: SignerExtension.constraints] != nil,
            extensions[oid: SignerExtension.enhancedConstraints] != nil
        {
            return "\(name) has both extensions for constraints of claims"
        }
        if let constraints, ClaimConstraints(der: constraints.der, isEnhanced: constraints.isEnhanced) == nil {
            return "the constraints of claims of \(name) cannot be read"
        }
        return nil
    }

    /// Whether an issuer has the permission to sign certificates; the anchor may lack the extension.
    func maySignCertificates(isAnchor: Bool) -> Bool {
        guard let usage = try? certificate.extensions.keyUsage else { return isAnchor }
        return usage.keyCertSign
    }

    /// Whether the leaf may sign tokens: digitalSignature, if it has the extension at all.
    var maySignTokens: Bool {
        guard certificate.extensions[oid: .X509ExtensionID.keyUsage] != nil else { return true }
        return (try? certificate.extensions.keyUsage)?.digitalSignature ?? false
    }

    /// The bits of the modulus of an RSA key; nil for a key of another kind.
    var modulusBits: Int? {
        let key = certificate.publicKey
        guard P256.Signing.PublicKey(key) == nil, P384.Signing.PublicKey(key) == nil,
            P521.Signing.PublicKey(key) == nil,
            let root = try? DER.parse(key.subjectPublicKeyInfoBytes), case .constructed(let parts) = root.content,
            let modulus = parts.first(where: { _ in true }), case .primitive(let bytes) = modulus.content
        else { return nil }
        return bytes.drop { $0 == 0 }.count * 8
    }

    var isP256: Bool { P256.Signing.PublicKey(certificate.publicKey) != nil }

    /// The subject for the operator.
    var name: String { ServerText.clean("\(certificate.subject)") }

    /// The serial number as hexadecimal digits.
    var serial: String {
        certificate.serialNumber.bytes.isEmpty ? "00" : Hexadecimal.text(certificate.serialNumber.bytes)
    }
}
