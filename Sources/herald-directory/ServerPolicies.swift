// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryServer
import Host
import WebPages

extension ServerPolicies {
    /// The settings of a configuration that a reload changes.
    init(_ configuration: DirectoryConfiguration) {
        self.init()
        let (limits, settings) = (configuration.rateLimits, configuration.clients)
        rateLimits = RateLimits(
            web: limits.web, mobileIOS: limits.mobileIOS, mobileAndroid: limits.mobileAndroid,
            herald: limits.herald, key: limits.key, wrongKeys: limits.wrongKeys)
        for (mine, its) in [
            (\ClientSettings.ios, settings.ios), (\.android, settings.android), (\.herald, settings.herald),
        ] {
            clients[keyPath: mine] = ClientSettings.Versions(minimum: its.minimum, latest: its.latest)
        }
        clients.forceUpdate = settings.forceUpdate
        clients.syncIntervalMinutes = settings.syncIntervalMinutes
        clients.cacheTTLHours = settings.cacheTTLHours
        clients.blanksRemovedNumbers = settings.blanksRemovedNumbers
        clients.devicesPerAccount = settings.devicesPerAccount
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
