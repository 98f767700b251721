// SPDX-License-Identifier: Apache-2.0

import HostSystem
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import NIOSSL

/// The certificate of the operator's address, read once at the start.
package struct AdminTLS: Hashable, Sendable {
    /// A PEM file with the certificate and its chain.
    package let certificate: String
    /// A PEM file with the private key.
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Wraps a server in TLS 1.2 or newer.
    ///
    /// - Throws: `AdminTLSProblem`.
    func server(_ plain: HTTPServerBuilder) throws -> HTTPServerBuilder {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw AdminTLSProblem(setting: "admin.tls.certificate", path: certificate, wanted: "a PEM certificate")
        }
        let secret: NIOSSLPrivateKey
        do {
            secret = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw AdminTLSProblem(setting: "admin.tls.key", path: key, wanted: "a PEM private key without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(secret))
        configuration.minimumTLSVersion = .tlsv12
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw AdminTLSProblem(
                setting: "admin.tls.key", path: key, wanted: "the private key of the certificate in \(certificate)")
        }
        return try .tls(plain, tlsConfiguration: configuration)
    }
}

/// A certificate or key that cannot be used.
package struct AdminTLSProblem: Error, Hashable, CustomStringConvertible {
    let setting: String
    let path: String
    let wanted: String

    package var description: String {
        let reason = SystemError.ofReading(path)
        let cause = reason == SystemError.changed ? "it is not \(wanted)" : reason
        return "\(setting): \(path) cannot be used: \(cause); name a readable file with \(wanted)"
    }
}
