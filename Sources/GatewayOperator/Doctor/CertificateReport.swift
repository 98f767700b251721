// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayConfiguration
package import Logging
import SIPTransport

/// Checks the certificates and keys that a configuration names.
package struct CertificateReport {
    /// Files that would end a start, with the reason.
    private(set) var problems: [String] = []
    /// Certificates that have expired or expire soon.
    private(set) var remarks: [String] = []
    /// A line for each certificate: its names and its expiry.
    private(set) var summary: [String] = []

    /// Reads all files.
    ///
    /// - Parameter now: seconds since 1970.
    init(_ configuration: HeraldConfiguration, at now: Int64) {
        for listener in configuration.listen {
            guard let files = listener.tls else { continue }
            read(TLSIdentity.Files(files), "listen \(listener.name)", now)
        }
        if let files = configuration.adminAccess.tls, configuration.admin != nil {
            read(TLSIdentity.Files(files), "admin.tls", now)
        }
        guard let tls = configuration.directory?.tls else { return }
        do {
            _ = try tls.trust()
            guard let certificate = tls.certificate, let key = tls.key else { return }
            read(TLSIdentity.Files(certificate: certificate, key: key, roots: tls.roots), "directory.tls", now)
        } catch {
            problems.append("\(error)")
        }
    }

    /// Logs certificates to renew.
    package static func warn(of configuration: HeraldConfiguration, _ logger: Logger) {
        for remark in CertificateReport(configuration, at: Int64(Date().timeIntervalSince1970)).remarks {
            logger.warning("\(remark)")
        }
    }

    private mutating func read(_ files: TLSIdentity.Files, _ owner: String, _ now: Int64) {
        do {
            guard let standing = try TLSIdentity(files).standing else { return }
            summary.append("tls     \(owner): \(standing.summary(at: now))")
            if let remark = standing.remark(at: now) {
                remarks.append("\(owner): the certificate \(files.certificate) \(remark)")
            }
        } catch {
            problems.append("\(owner): \(error)")
        }
    }
}
