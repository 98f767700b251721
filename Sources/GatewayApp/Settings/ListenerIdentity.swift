// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import SIPTransport

/// The certificate of a listen entry.
struct ListenerIdentity: Sendable {
    let name: String
    let identity: TLSIdentity
}

extension TLSIdentity.Files {
    /// The files as the configuration names them.
    init(_ files: HeraldConfiguration.TLSFiles) {
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
