// SPDX-License-Identifier: Apache-2.0

package import Crypto
import Foundation
package import NIOSSL
import SwiftASN1
package import X509

/// An authority of a test: makes certificates for keys of its own.
package struct TestAuthority {
    package let key = P256.Signing.PrivateKey()
    package let certificate: Certificate

    package init() throws {
        certificate = try Self.make("Test authority", for: key, by: key, issuer: "Test authority", isAuthority: true)
    }

    /// A server's certificate with its key.
    package func certificate(
        for host: String, key: P256.Signing.PrivateKey, names: [String]? = nil, isExpired: Bool = false
    ) throws -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        let leaf = try Self.make(
            host, for: key, by: self.key, issuer: "Test authority", isAuthority: false, names: names ?? [host],
            until: isExpired ? Date().addingTimeInterval(-60) : Date().addingTimeInterval(3600))
        return (
            [try NIOSSLCertificate(bytes: Self.der(leaf), format: .der)],
            try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)
        )
    }

    /// The authority as a PEM file.
    package func roots(in folder: String) throws -> String {
        let path = folder + "/roots-\(UUID().uuidString).pem"
        try certificate.serializeAsPEM().pemString.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The authority as a root of a client.
    package func root() throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Self.der(certificate), format: .der)
    }

    /// The pin of a key, worked out from the key alone.
    package static func pin(_ key: P256.Signing.PrivateKey) -> String {
        Data(SHA256.hash(data: key.publicKey.derRepresentation)).base64EncodedString()
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] { try certificate.serializeAsPEM().derBytes }

    private static func make(
        _ name: String, for key: P256.Signing.PrivateKey, by issuerKey: P256.Signing.PrivateKey, issuer: String,
        isAuthority: Bool, names: [String] = [], until: Date = Date().addingTimeInterval(3600)
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date().addingTimeInterval(-3600), notValidAfter: until,
            issuer: DistinguishedName { CommonName(issuer) }, subject: DistinguishedName { CommonName(name) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                }
                if !names.isEmpty { SubjectAlternativeNames(names.map { .dnsName($0) }) }
            },
            issuerPrivateKey: .init(issuerKey))
    }
}
