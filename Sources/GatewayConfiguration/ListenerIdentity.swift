// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import SIPTransport

/// The certificate of a listen entry.
package struct ListenerIdentity: Sendable {
    /// The listen entry.
    package let name: String
    /// Its certificate and key.
    package let identity: TLSIdentity

    /// - Parameter name: the listen entry.
    package init(name: String, identity: TLSIdentity) { (self.name, self.identity) = (name, identity) }
}

extension TLSIdentity.Files {
    /// The files as the configuration names them.
    package init(_ files: HeraldConfiguration.TLSFiles) {
        self.init(
            certificate: files.certificate, key: files.key, roots: files.roots,
            asksForCertificate: files.asksForCertificate, suites: .init(files.suites))
    }
}

extension TLSIdentity.CipherSuites {
    fileprivate init(_ suites: HeraldConfiguration.CipherSuites) {
        switch suites {
        case .modern: self = .modern
        case .compatible: self = .compatible
        }
    }
}
