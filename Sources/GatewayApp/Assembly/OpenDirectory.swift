// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle

extension DirectoryLink {
    /// Nil when the configuration names no directory.
    ///
    /// - Parameters:
    ///   - publisher: the one publisher of the snapshot.
    ///   - isReload: true where the link replaces another, so that logos are looked at without a pause.
    ///   - whileSyncing: called with `true` before a sync and `false` after it.
    /// - Throws: errors of the API key and of the files of `directory.tls`.
    init?(
        _ configuration: HeraldConfiguration, _ state: StoredState, _ publisher: BrandingPublisher,
        troubles: StateTroubles, logger: Logger, isReload: Bool = false,
        whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        guard let access = configuration.directory else { return nil }
        let connection = try DirectoryConnection(configuration, access, state.brands, publisher, troubles, logger)
        let (client, device) = (connection.client, connection.device)
        let indexFile = state.brands.indexFile
        let rebuild = IndexRebuild { try await indexFile.rebuild() }
        let keeper = state.logos?.keeper(configuration.logos, state.brands.current, isReload: isReload) {
            await publisher.publish(try await rebuild.run())
        }
        let sender = EventSender(
            client: client, outbox: EventOutboxStore(state.database), publisher: publisher, device: device,
            logger: logger)
        let remote = RemoteConfigurationService(client: client, device: device, logger: logger)
        let sync = connection.sync(
            configuration, access, rebuild, whileSyncing: whileSyncing, onBrands: { keeper?.brandsChanged() })
        let lifetime = connection.lifetime(access, sync)
        let lookup = access.lookup.map { connection.lookup($0, rebuild, sync) }
        self.init(
            sync: sync, sender: sender, remote: remote, lifetime: lifetime, lookup: lookup, logos: keeper,
            publisher: publisher, client: client,
            services: [client, sync, sender, remote, lifetime] + (lookup.map { [$0] } ?? [])
                + (keeper.map { [$0] } ?? []),
            device: device, logger: logger)
    }

    /// Nil unless `directory.debug_upload` is true.
    func debugUploader(
        _ configuration: HeraldConfiguration, _ current: CurrentBranding, _ log: RecentLog,
        _ status: GatewayStatusReport
    ) -> DebugUploader? {
        guard configuration.directory?.allowsDebugUpload == true else { return nil }
        return DebugUploader(
            client: client, device: device, current: current, stateFolder: configuration.state,
            content: DebugUploader.Content(
                logs: { log.lines }, state: { try? JSONEncoder().encode(await status.status()) }),
            logger: logger)
    }
}
