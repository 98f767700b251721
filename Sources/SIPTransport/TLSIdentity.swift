// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import SIPCore
import SwiftASN1
import Synchronization
import X509

/// Certificate, key and roots of one TLS address, read from files and read again when they are renewed.
package final class TLSIdentity: Sendable {
    /// Where the files are, and what is asked of peers.
    package struct Files: Hashable, Sendable {
        /// The certificate chain, PEM.
        package var certificate: String
        /// Its private key, PEM, without a pass phrase.
        package var key: String
        /// Certificates whose holders are believed, PEM; nil for those of the system.
        package var roots: String?
        /// True refuses connections without a certificate that the roots vouch for (mutual TLS).
        package var asksForCertificate = false

        package init(certificate: String, key: String, roots: String? = nil, asksForCertificate: Bool = false) {
            self.certificate = certificate
            self.key = key
            self.roots = roots
            self.asksForCertificate = asksForCertificate
        }
    }

    private struct Contexts: Sendable {
        let server: NIOSSLContext
        let client: NIOSSLContext
    }

    package let files: Files
    private let contexts: Mutex<Contexts>

    /// Reads the files.
    ///
    /// - Throws: `TLSIdentityError` with the file and what is wrong with it.
    package init(_ files: Files) throws(TLSIdentityError) {
        self.files = files
        contexts = Mutex(try Self.read(files))
    }

    /// Reads the files again: new connections use what is in them now.
    ///
    /// - Throws: `TLSIdentityError`; what was read before stays in use.
    package func reload() throws(TLSIdentityError) {
        let next = try Self.read(files)
        contexts.withLock { $0 = next }
    }

    var server: NIOSSLContext { contexts.withLock { $0.server } }
    var client: NIOSSLContext { contexts.withLock { $0.client } }

    private static func read(_ files: Files) throws(TLSIdentityError) -> Contexts {
        let chain: [NIOSSLCertificateSource]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) }
        } catch {
            throw TLSIdentityError(
                file: files.certificate, problem: "holds no certificate chain in PEM form that can be read")
        }
        let key: NIOSSLPrivateKeySource
        do {
            key = .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
        } catch {
            throw TLSIdentityError(file: files.key, problem: "holds no private key in PEM form that can be read")
        }
        var roots = NIOSSLTrustRoots.default
        if let path = files.roots {
            do {
                roots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            } catch {
                throw TLSIdentityError(file: path, problem: "holds no certificates in PEM form that can be read")
            }
        }
        var server = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        server.minimumTLSVersion = .tlsv12
        server.trustRoots = roots
        // A carrier is known by its certificate's names, which are compared with the trunk's, not by where it calls from.
        server.certificateVerification = files.asksForCertificate ? .noHostnameVerification : .none
        var client = TLSConfiguration.makeClientConfiguration()
        client.minimumTLSVersion = .tlsv12
        client.trustRoots = roots
        client.certificateChain = chain
        client.privateKey = key
        do {
            return Contexts(
                server: try NIOSSLContext(configuration: server), client: try NIOSSLContext(configuration: client))
        } catch {
            throw TLSIdentityError(
                file: files.certificate, problem: "and \(files.key) do not go together (\(error))")
        }
    }
}

/// Why a TLS address cannot be used as configured; never says anything of a key.
package struct TLSIdentityError: Error, Hashable, CustomStringConvertible {
    package let file: String
    package let problem: String

    package var description: String { "\(file) \(problem)" }
}

extension PeerCertificate {
    /// The names of a verified certificate: the SIP URIs of its alternative names, else their host names, else the common
    /// name (RFC 5922 §7.1).
    convenience init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes) else {
            return nil
        }
        var hosts: [String] = []
        var domains: [String] = []
        if let alternatives = try? parsed.extensions.subjectAlternativeNames {
            for name in alternatives {
                switch name {
                case .dnsName(let host): hosts.append(host)
                case .uniformResourceIdentifier(let uri) where uri.lowercased().hasPrefix("sip:"):
                    domains.append(String(uri.dropFirst(4)))
                default: break
                }
            }
        }
        // RFC 5922 §7.1: where SIP URIs are given, host names count for nothing.
        var names = domains.isEmpty ? hosts : domains
        if names.isEmpty {
            for attribute in parsed.subject.flatMap({ $0 }) where attribute.type == .RDNAttributeType.commonName {
                names.append(attribute.value.description)
            }
        }
        self.init(names: names)
    }
}
