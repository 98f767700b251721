// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import SIPCore
import Synchronization

/// Certificate, key and roots of one TLS address, read from files and reloaded after a renewal.
public final class TLSIdentity: Sendable {
    /// The files, and the requirements on peers.
    public struct Files: Hashable, Sendable {
        /// The certificate chain, PEM.
        public var certificate: String
        /// Its private key, PEM, without a pass phrase.
        public var key: String
        /// Trust anchors, PEM; nil for those of the system.
        public var roots: String?
        /// True requires a certificate under the roots from every client (mutual TLS).
        public var asksForCertificate = false
        /// The offered and accepted cipher suites of TLS 1.2.
        public var suites = CipherSuites.modern

        public init(
            certificate: String, key: String, roots: String? = nil, asksForCertificate: Bool = false,
            suites: CipherSuites = .modern
        ) {
            self.certificate = certificate
            self.key = key
            self.roots = roots
            self.asksForCertificate = asksForCertificate
            self.suites = suites
        }
    }

    /// Cipher suites of TLS 1.2; TLS 1.3 uses all of its suites.
    ///
    /// RFC 3261 §26.2.1 asks for `TLS_RSA_WITH_AES_128_CBC_SHA`. RFC 9325 §4.1 and §4.2 advise against it: without
    /// forward secrecy a recorded connection can be read as soon as the key leaks. Some old session border controllers
    /// have nothing else. A peer without a common suite fails the handshake, and the log names the peer.
    public enum CipherSuites: Hashable, Sendable {
        /// Only forward secrecy and authenticated encryption (RFC 9325 §4.2).
        case modern
        /// Also RSA key exchange and CBC with SHA-1, for peers with only the suites of RFC 3261 §26.2.1.
        case compatible
    }

    private struct Contexts: Sendable {
        let server: NIOSSLContext
        /// For targets configured by address. The library compares it with the certificate.
        let client: NIOSSLContext
        /// For targets configured by name. `PeerCertificate.proves` compares it with the certificate.
        let namedClient: NIOSSLContext
        let standing: CertificateStanding?
    }

    public let files: Files
    private let contexts: Mutex<Contexts>

    /// Loads the files.
    ///
    /// - Throws: `TLSIdentityError` with the file and the cause.
    public init(_ files: Files) throws(TLSIdentityError) {
        self.files = files
        contexts = Mutex(try Self.read(files))
    }

    /// Reads the files again, for new connections.
    ///
    /// - Throws: `TLSIdentityError`. The earlier content stays in use.
    public func reload() throws(TLSIdentityError) {
        let next = try Self.read(files)
        contexts.withLock { $0 = next }
    }

    /// Reads the files without a use of their content.
    ///
    /// - Throws: `TLSIdentityError` as `reload` would.
    func check() throws(TLSIdentityError) { _ = try Self.read(files) }

    var server: NIOSSLContext { contexts.withLock { $0.server } }
    var client: NIOSSLContext { contexts.withLock { $0.client } }
    var namedClient: NIOSSLContext { contexts.withLock { $0.namedClient } }
    /// Names and validity of the certificate in use; nil if it is unreadable.
    public var standing: CertificateStanding? { contexts.withLock { $0.standing } }

    private static let modernSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func read(_ files: Files) throws(TLSIdentityError) -> Contexts {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        } catch {
            throw TLSIdentityError(
                file: files.certificate, problem: "holds no certificate chain in PEM form that can be read")
        }
        let key = try privateKey(files.key)
        var roots = NIOSSLTrustRoots.default
        if let path = files.roots {
            do {
                roots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            } catch {
                throw TLSIdentityError(file: path, problem: "holds no certificates in PEM form that can be read")
            }
        }
        let sources = chain.map { NIOSSLCertificateSource.certificate($0) }
        var server = TLSConfiguration.makeServerConfiguration(certificateChain: sources, privateKey: key)
        server.trustRoots = roots
        // A carrier is identified by its certificate's names, compared with the trunk's, not by its address.
        server.certificateVerification = files.asksForCertificate ? .noHostnameVerification : .none
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = roots
        client.certificateChain = sources
        client.privateKey = key
        var namedClient = client
        // The library accepts wildcards and ignores SIP URIs (RFC 5922 §7).
        namedClient.certificateVerification = .noHostnameVerification
        do {
            return Contexts(
                server: try context(server, files), client: try context(client, files),
                namedClient: try context(namedClient, files), standing: chain.first.flatMap { CertificateStanding($0) })
        } catch {
            throw TLSIdentityError(
                file: files.key, problem: "is not the key of the certificate in \(files.certificate)")
        }
    }

    private static func context(_ configuration: TLSConfiguration, _ files: Files) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.minimumTLSVersion = .tlsv12
        if files.suites == .modern { configuration.cipherSuiteValues = modernSuites }
        return try NIOSSLContext(configuration: configuration)
    }

    private static func privateKey(_ path: String) throws(TLSIdentityError) -> NIOSSLPrivateKeySource {
        // Both marks of encryption in PEM: PKCS #8, and the older header.
        let isEncrypted = (try? String(contentsOfFile: path, encoding: .utf8)).map {
            $0.contains("BEGIN ENCRYPTED PRIVATE KEY") || $0.contains("Proc-Type: 4,ENCRYPTED")
        }
        if isEncrypted ?? false {
            throw TLSIdentityError(
                file: path,
                problem: "is protected by a pass phrase, which nobody types at a start; `openssl pkey -in \(path)` "
                    + "writes it without one")
        }
        do {
            return .privateKey(try NIOSSLPrivateKey(file: path, format: .pem))
        } catch {
            throw TLSIdentityError(file: path, problem: "holds no private key in PEM form that can be read")
        }
    }
}

/// An unusable TLS configuration. The text contains nothing of a key.
public struct TLSIdentityError: Error, Hashable, CustomStringConvertible {
    public let file: String
    public let problem: String

    public var description: String { "\(file) \(problem)" }
}
