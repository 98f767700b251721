// SPDX-License-Identifier: Apache-2.0

import NIOCore
package import NIOSSL
import Synchronization

/// Certificate and key of an HTTPS server, read from files; a renewal holds for new connections.
///
/// TLS 1.2 or newer, without client certificates. Connections that are open keep the certificate of their begin. Any thread.
package final class ServerCertificate: Sendable {
    /// A PEM file with the certificate and its chain.
    package let certificate: String
    /// A PEM file with the private key, without a pass phrase.
    package let key: String
    private let current: Mutex<Files>

    private struct Files: Sendable {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource
        let validUntil: Int64
    }

    /// Reads the files.
    ///
    /// - Throws: `ServerCertificateProblem` for a file that cannot be used, and for a key of another certificate.
    package init(certificate: String, key: String) throws(ServerCertificateProblem) {
        self.certificate = certificate
        self.key = key
        current = Mutex(try Self.read(certificate, key))
    }

    /// The last valid second of the certificate, in seconds since 1970.
    package var validUntil: Int64 { current.withLock { $0.validUntil } }

    /// Reads the files again and returns the step that puts them in force.
    ///
    /// - Throws: `ServerCertificateProblem`; the earlier content stays in use.
    package func renewal() throws(ServerCertificateProblem) -> @Sendable () -> Void {
        let next = try Self.read(certificate, key)
        return { [self] in current.withLock { $0 = next } }
    }

    /// The settings of a server that takes the certificate in force for each handshake.
    package var configuration: TLSConfiguration {
        var configuration = Self.configuration(current.withLock { $0 })
        configuration.sslContextCallback = { [self] _, promise in
            let files = current.withLock { $0 }
            var inForce = NIOSSLContextConfigurationOverride()
            (inForce.certificateChain, inForce.privateKey) = (files.chain, files.key)
            promise.succeed(inForce)
        }
        return configuration
    }

    private static func configuration(_ files: Files) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: files.chain, privateKey: files.key)
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    private static func read(_ certificate: String, _ key: String) throws(ServerCertificateProblem) -> Files {
        let chain = try chain(certificate)
        let files = Files(
            chain: chain.map { .certificate($0) }, key: try privateKey(key),
            validUntil: chain.first.map { Int64($0.notValidAfter) } ?? 0)
        do {
            _ = try NIOSSLContext(configuration: configuration(files))
        } catch {
            throw ServerCertificateProblem(
                part: .key, path: key, wanted: "the private key of the certificate in \(certificate)")
        }
        return files
    }

    private static func chain(_ path: String) throws(ServerCertificateProblem) -> [NIOSSLCertificate] {
        do {
            return try NIOSSLCertificate.fromPEMFile(path)
        } catch {
            throw ServerCertificateProblem(part: .certificate, path: path, wanted: "a PEM certificate")
        }
    }

    private static func privateKey(_ path: String) throws(ServerCertificateProblem) -> NIOSSLPrivateKeySource {
        do {
            return .privateKey(try NIOSSLPrivateKey(file: path, format: .pem))
        } catch {
            throw ServerCertificateProblem(part: .key, path: path, wanted: "a PEM private key without a passphrase")
        }
    }
}

/// A certificate or key that cannot be used; each program adds the configuration key and the error of the system.
package struct ServerCertificateProblem: Error, Hashable {
    /// The file of the two that is wrong.
    package enum Part: String, Hashable, Sendable {
        case certificate, key
    }

    package let part: Part
    package let path: String
    /// The content that the file should have.
    package let wanted: String
}
