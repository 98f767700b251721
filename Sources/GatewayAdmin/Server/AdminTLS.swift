// SPDX-License-Identifier: Apache-2.0

import NIOSSL

/// The certificate of the admin port.
///
/// The files are read at the start, so a renewed certificate needs a restart.
package struct AdminTLS: Hashable, Sendable {
    private let certificate: String
    private let key: String

    /// - Parameters:
    ///   - certificate: the file of the certificate chain, PEM.
    ///   - key: the file of its private key, PEM, without a pass phrase.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// TLS 1.2 or newer, without client certificates.
    ///
    /// - Throws: an error of the files.
    func configuration() throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }
}
