// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryServer
import Host
import Logging
import WebPages

/// Reads the configuration again, and applies what a running server can change.
///
/// A file with a problem changes nothing. The log names keys that wait for a restart.
struct DirectoryReload {
    /// Nil for a server without a configuration file.
    let path: String?
    /// The configuration of the start.
    let running: DirectoryConfiguration
    let server: DirectoryServer
    let log: LiveLogSettings
    let report: SystemdReport
    let logger: Logger

    func run() {
        report.reloadBegins()
        defer { report.reloadEnds() }
        guard let path else {
            return logger.warning(
                "nothing to reload: the server runs without a configuration file; start it with --config")
        }
        do {
            let next = try DirectoryConfiguration.load(path: path)
            do throws(ServerCertificateProblem) {
                try server.renewCertificate()
            } catch {
                throw CommandFailure(error.text)
            }
            server.use(ServerPolicies(next))
            log.use(next.log)
            logger.notice("configuration reloaded", metadata: ["file": "\(path)"])
            let waiting = running.restartOnly(differingFrom: next)
            guard !waiting.isEmpty else { return }
            logger.warning("some changes need a restart", metadata: ["keys": "\(waiting.joined(separator: ", "))"])
        } catch {
            logger.error(
                "the configuration was not reloaded, the old one stays in force", metadata: ["problem": "\(error)"])
        }
    }
}

extension DirectoryConfiguration {
    /// The keys with another value in `next` that a running server cannot change: addresses, folders, and limits of
    /// connections.
    fileprivate func restartOnly(differingFrom next: DirectoryConfiguration) -> [String] {
        let keys: [(String, Bool)] = [
            ("listen", listen == next.listen), ("state", state == next.state), ("database", database == next.database),
            ("logos", logos == next.logos),
            ("public_url", publicURL == next.publicURL), ("connections", connections == next.connections),
            ("connections_per_client", connectionsPerClient == next.connectionsPerClient),
            ("answer_timeout", responseTimeout == next.responseTimeout),
            ("admin", admin == next.admin && pages == next.pages),
            ("camara", offersRegistrations == next.offersRegistrations),
            ("push", push == next.push),
            ("events.mb_per_day", storedMBPerDay == next.storedMBPerDay),
        ]
        return keys.filter { !$0.1 }.map(\.0)
    }
}
