// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// Trust in the directory's certificate beyond its name: TLS 1.2 at least, optional roots and pins.
///
/// Source: api-client-networking, "SSL Pinning".
package struct DirectoryTrust: Sendable {
    /// Empty if any certificate under the roots is accepted.
    let pins: [PublicKeyPin]
    /// Trust anchors for the check of pins; nil for the system's roots.
    let roots: [Certificate]?
    /// For the handshake.
    let configuration: TLSConfiguration

    /// The system's roots and no pins.
    package init() {
        pins = []
        roots = nil
        configuration = Self.plain
    }

    /// Reads PEM files.
    ///
    /// - Parameters:
    ///   - roots: trust anchors that replace the system's roots.
    ///   - certificate: the client's own chain for a server that requests one; `key` belongs to it.
    /// - Throws: `DirectoryTrustError` with the file that cannot be used.
    package init(
        pins: [PublicKeyPin], roots: String?, certificate: String?, key: String?
    ) throws(DirectoryTrustError) {
        var configuration = Self.plain
        self.pins = pins
        if let roots {
            let certificates = try Self.certificates(roots)
            configuration.trustRoots = .certificates(certificates)
            do {
                self.roots = try certificates.map { try Certificate(derEncoded: $0.toDERBytes()) }
            } catch {
                throw DirectoryTrustError(file: roots, problem: "holds a certificate that cannot be read")
            }
        } else {
            self.roots = nil
        }
        if let certificate, let key {
            configuration.certificateChain = try Self.certificates(certificate).map { .certificate($0) }
            do {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            } catch {
                throw DirectoryTrustError(file: key, problem: "holds no private key in PEM form that can be read")
            }
        }
        // The system's roots need no check. Reading them takes longer than the rest of a start.
        if let file = certificate ?? roots {
            do {
                _ = try NIOSSLContext(configuration: configuration)
            } catch {
                throw DirectoryTrustError(file: file, problem: "cannot be used for TLS")
            }
        }
        self.configuration = configuration
    }

    private static var plain: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    private static func certificates(_ path: String) throws(DirectoryTrustError) -> [NIOSSLCertificate] {
        do {
            let certificates = try NIOSSLCertificate.fromPEMFile(path)
            guard !certificates.isEmpty else { throw DirectoryTrustError(file: path, problem: "holds no certificate") }
            return certificates
        } catch {
            throw DirectoryTrustError(file: path, problem: "holds no certificates in PEM form that can be read")
        }
    }
}

/// The SHA-256 of a public key as certificates carry it (SubjectPublicKeyInfo, RFC 7469 §2.4).
package struct PublicKeyPin: Hashable, Sendable {
    private let digest: [UInt8]

    /// Reads base64 of 32 bytes, with or without the prefix `sha256/`.
    package init?(_ text: String) {
        let base64 = text.hasPrefix("sha256/") ? String(text.dropFirst(7)) : text
        guard let digest = Data(base64Encoded: base64), digest.count == 32 else { return nil }
        self.digest = Array(digest)
    }

    /// The pin of a certificate's key.
    init(_ certificate: Certificate) throws {
        digest = Array(SHA256.hash(data: try certificate.publicKey.serializeAsPEM().derBytes))
    }
}

/// An unusable file of `directory.tls`. The text contains nothing of a key.
package struct DirectoryTrustError: Error, Hashable, CustomStringConvertible {
    package let file: String
    package let problem: String

    package var description: String { "\(file) \(problem); see directory.tls" }
}
