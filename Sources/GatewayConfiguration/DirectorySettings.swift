// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import Foundation
package import GatewaySync
import Host
import Primitives

extension HeraldConfiguration.DirectoryAccess {
    /// Settings of the directory client; reads the files of `directory.tls`.
    ///
    /// - Throws: `CommandFailure` or `DirectoryTrustError` that names the key.
    package func settings(version: String) throws -> DirectorySettings {
        guard let address = DirectoryAddress(url) else {
            throw CommandFailure("directory.url \"\(ShownURL.text(url))\" is not an http or https URL of a directory")
        }
        guard let key = APIKey(key.reveal()) else {
            throw CommandFailure("directory.api_key_file or directory.api_key_env does not hold a usable API key")
        }
        var settings = DirectorySettings(address: address, key: key, version: version)
        settings.keySource = self.key.source
        settings.clientType = clientType
        settings.connectTimeout = min(timeout, settings.connectTimeout)
        settings.requestTimeout = timeout
        settings.resourceTimeout = resourceTimeout
        settings.syncTimeout = syncTimeout
        settings.syncLimit = maxBody
        settings.trust = try tls.trust()
        settings.signing = signing.map { RequestSigning(id: $0.id, secret: $0.secret.reveal()) }
        return settings
    }

    /// Intervals of syncs, full refreshes and heartbeats.
    package var schedule: SyncSchedule {
        var schedule = SyncSchedule()
        schedule.interval = syncInterval ?? schedule.interval
        schedule.intervalIsOpen = syncInterval == nil
        schedule.fullRefresh = fullSyncInterval
        schedule.presence = presenceInterval
        schedule.acknowledges = acknowledges
        return schedule
    }
}

extension HeraldConfiguration.DirectoryTLS {
    /// Reads the roots, the certificate and the key.
    package func trust() throws -> DirectoryTrust {
        try DirectoryTrust(
            pins: pins.compactMap(PublicKeyPin.init), roots: roots, certificate: certificate, key: key)
    }
}

extension HeraldConfiguration.DirectoryTLS {
    /// The contents of its files, by which a reload finds renewed ones.
    package var contents: [Data?] {
        [roots, certificate, key].map { path in path.flatMap { FileManager.default.contents(atPath: $0) } }
    }
}

extension HeraldConfiguration {
    /// The file of the tokens of `directory.bearer`, in the folder of its account.
    package static func tokenFile(in folder: String) -> String { folder + "/directory-tokens" }
}
