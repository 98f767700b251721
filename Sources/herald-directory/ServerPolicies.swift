// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryServer
import Host
import WebPages

extension ServerPolicies {
    /// The settings of a configuration that a reload changes.
    init(_ configuration: DirectoryConfiguration) {
        self.init()
        (rateLimits, clients, links) = (configuration.rateLimits, configuration.clients, configuration.links)
        keepDays = configuration.keepDays
    }
}

extension DirectoryConfiguration {
    /// The certificate of the operator's own address; nil without one.
    ///
    /// - Throws: `CommandFailure` with key, file and remedy.
    func certificate() throws -> ServerCertificate? {
        guard case .at = admin, let tls = pages.tls else { return nil }
        do throws(ServerCertificateProblem) {
            return try ServerCertificate(certificate: tls.certificate, key: tls.key)
        } catch {
            throw CommandFailure(error.text)
        }
    }
}

extension ServerCertificateProblem {
    /// The problem with its configuration key, cause and remedy.
    var text: String { "admin.tls.\(part.rawValue): \(SystemError.ofUsing(path, as: wanted))" }
}
