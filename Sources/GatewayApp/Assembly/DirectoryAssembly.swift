// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewaySync

// Turns the `directory` section into what the sync side takes.

extension HeraldConfiguration.DirectoryAccess {
    /// What the directory client is told.
    func settings(version: String) throws -> DirectorySettings {
        guard let address = DirectoryAddress(url) else {
            throw CommandFailure("directory.url \"\(url)\" is no address of a directory")
        }
        guard let key = APIKey(key.reveal()) else {
            throw CommandFailure("the key that directory.api_key_file or api_key_env names is no usable API key")
        }
        var settings = DirectorySettings(address: address, key: key, version: version)
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

    /// When the sync service does what.
    var schedule: SyncSchedule {
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
    /// Reads the files.
    func trust() throws -> DirectoryTrust {
        try DirectoryTrust(
            pins: pins.compactMap(PublicKeyPin.init), roots: roots, certificate: certificate, key: key)
    }
}
