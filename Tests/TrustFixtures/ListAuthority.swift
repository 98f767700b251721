// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// An administrator of lists in the laboratory: signs lists of authorities and indirect revocation lists at will.
package struct ListAuthority: Sendable {
    /// The address of the certificate that signs lists of authorities.
    package static let signerAddress = "https://pa.example.net/signer.pem"

    private let now: Int64
    private let rootKey = P256.Signing.PrivateKey()
    private var listKey = P256.Signing.PrivateKey()
    private let revocationKey = P256.Signing.PrivateKey()
    private let root: Certificate
    private var listSigner: Certificate
    private let revocationSigner: Certificate

    /// - Parameter now: Unix seconds, around which the certificates are in force for a year.
    package init(at now: Int64 = TrustLab.shared.now) throws {
        self.now = now
        let root = try Self.certificate("PA root", rootKey, by: rootKey, issuer: "PA root", isAuthority: true, now)
        self.root = root
        listSigner = try Self.certificate("PA list", listKey, by: rootKey, issuer: "PA root", isAuthority: false, now)
        revocationSigner = try Self.certificate(
            "PA revocations", revocationKey, by: rootKey, issuer: "PA root", isAuthority: false, now)
    }

    /// The same administrator with another signer of lists under its root.
    ///
    /// - Parameter later: seconds by which the certificate begins and ends later.
    package func renewed(later: Int64 = 0) throws -> ListAuthority {
        var other = self
        other.listKey = P256.Signing.PrivateKey()
        other.listSigner = try Self.certificate(
            "PA list 2", other.listKey, by: rootKey, issuer: "PA root", isAuthority: false, now + later)
        return other
    }

    private static func certificate(
        _ name: String, _ key: P256.Signing.PrivateKey, by issuerKey: P256.Signing.PrivateKey, issuer: String,
        isAuthority: Bool, _ now: Int64
    ) throws -> Certificate {
        let year: TimeInterval = 365 * 86_400
        let time = Date(timeIntervalSince1970: TimeInterval(now))
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: time.addingTimeInterval(-year), notValidAfter: time.addingTimeInterval(year),
            issuer: DistinguishedName { CommonName(issuer) }, subject: DistinguishedName { CommonName(name) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true, cRLSign: true))
                }
            },
            issuerPrivateKey: .init(issuerKey))
    }

    /// The root above the signer of lists, in PEM.
    package var rootFile: String { get throws { try root.serializeAsPEM().pemString + "\n" } }

    /// The signer of lists, in PEM.
    package var signerCertificate: String { get throws { try listSigner.serializeAsPEM().pemString + "\n" } }

    /// The signer of lists behind its address.
    package var signerFile: String {
        get throws { "x5u: \(Self.signerAddress)\n" + (try signerCertificate) }
    }

    /// The signer of revocation lists, in PEM.
    package var revocationFile: String { get throws { try revocationSigner.serializeAsPEM().pemString + "\n" } }

    // MARK: Lists

    /// A list of authorities, as in a response of the STI-PA.
    ///
    /// - Parameters:
    ///   - names: certificates of the laboratory.
    ///   - life: seconds from now to its end.
    ///   - address: that of the certificate of its signer.
    package func list(
        _ sequence: Int, of names: [String], life: Int64 = 30 * 86_400, signer address: String = signerAddress
    ) throws -> String {
        let header = #"{"alg":"ES256","typ":"JWT","x5u":"\#(address)"}"#
        let certificates = names.map { #""\#(TrustLab.shared.pem($0).replacing("\n", with: "\\n"))""# }
        let payload =
            #"{"version":"1.0","sequence":\#(sequence),"exp":\#(now + life),"trustList":[\#(certificates.joined(separator: ","))]}"#
        let signed = TrustLab.base64(Data(header.utf8)) + "." + TrustLab.base64(Data(payload.utf8))
        let signature = TrustLab.base64(try listKey.signature(for: Data(signed.utf8)).rawRepresentation)
        return #"{"status":"success","caList":"\#(signed).\#(signature)"}"#
    }

    /// An indirect revocation list in DER (RFC 5280 §5), whose entries name the issuers of their certificates.
    ///
    /// - Parameters:
    ///   - names: revoked certificates of the laboratory.
    ///   - life: seconds from now to the next list.
    package func revocations(_ number: Int, of names: [String], life: Int64 = 86_400) throws -> [UInt8] {
        let revoked = try names.map { try Certificate(pemEncoded: TrustLab.shared.pem($0)) }
        var list = DER.Serializer()
        try list.appendConstructedNode(identifier: .sequence) { list in
            try list.serialize(1)
            try Self.algorithm(&list)
            try list.serialize(revocationSigner.subject)
            try list.serialize(Self.time(now - 3600))
            try list.serialize(Self.time(now + life))
            if !revoked.isEmpty {
                try list.appendConstructedNode(identifier: .sequence) { entries in
                    for certificate in revoked { try entry(certificate, &entries) }
                }
            }
            try list.appendConstructedNode(identifier: Self.tag(0)) { wrapper in
                try wrapper.appendConstructedNode(identifier: .sequence) { extensions in
                    try Self.append([2, 5, 29, 20], isCritical: false, &extensions) { try $0.serialize(number) }
                    // The scope: indirectCRL.
                    try Self.append([2, 5, 29, 28], isCritical: true, &extensions) { value in
                        value.appendConstructedNode(identifier: .sequence) { scope in
                            scope.appendPrimitiveNode(identifier: Self.tag(4)) { $0.append(0xFF) }
                        }
                    }
                }
            }
        }
        let signed = list.serializedBytes
        var whole = DER.Serializer()
        try whole.appendConstructedNode(identifier: .sequence) { whole in
            whole.serializeRawBytes(signed)
            try Self.algorithm(&whole)
            let signature = try revocationKey.signature(for: Data(signed)).derRepresentation
            try whole.serialize(ASN1BitString(bytes: ArraySlice(signature)))
        }
        return whole.serializedBytes
    }

    private func entry(_ certificate: Certificate, _ entries: inout DER.Serializer) throws {
        try entries.appendConstructedNode(identifier: .sequence) { entry in
            entry.appendPrimitiveNode(identifier: .integer) { bytes in
                let serial = Array(certificate.serialNumber.bytes)
                if serial.first.map({ $0 >= 0x80 }) ?? true { bytes.append(0) }
                bytes += serial
            }
            try entry.serialize(Self.time(now - 7200))
            try entry.appendConstructedNode(identifier: .sequence) { extensions in
                try Self.append([2, 5, 29, 29], isCritical: true, &extensions) { value in
                    try value.appendConstructedNode(identifier: .sequence) { names in
                        try names.appendConstructedNode(identifier: Self.tag(4)) {
                            try $0.serialize(certificate.issuer)
                        }
                    }
                }
            }
        }
    }

    private static func append(
        _ identifier: ASN1ObjectIdentifier, isCritical: Bool, _ extensions: inout DER.Serializer,
        _ contents: (inout DER.Serializer) throws -> Void
    ) throws {
        var value = DER.Serializer()
        try contents(&value)
        let bytes = value.serializedBytes
        try extensions.appendConstructedNode(identifier: .sequence) { node in
            try node.serialize(identifier)
            if isCritical { try node.serialize(true) }
            try node.serialize(ASN1OctetString(contentBytes: ArraySlice(bytes)))
        }
    }

    private static func algorithm(_ serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { node in
            let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
            try node.serialize(ecdsaWithSHA256)
        }
    }

    private static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }

    private static func time(_ seconds: Int64) throws -> UTCTime {
        let parts = Calendar.utc.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: TimeInterval(seconds)))
        return try UTCTime(
            year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0, hours: parts.hour ?? 0,
            minutes: parts.minute ?? 0, seconds: parts.second ?? 0)
    }
}

extension Calendar {
    fileprivate static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
        return calendar
    }()
}
