// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle

/// The services that talk to a directory.
struct DirectoryLink {
    let sync: SyncService
    let sender: EventSender
    let remote: RemoteConfigurationService
    let lifetime: CacheLifetime
    /// Nil unless the operator switched it on.
    let lookup: NumberLookup?
    let publisher: BrandingPublisher
    let client: DirectoryClient
    let services: [any Service]
    private let device: DeviceIdentity
    private let logger: Logger

    /// Nil when the configuration names no directory.
    ///
    /// - Parameter whileSyncing: told `true` before a sync and `false` after it.
    init?(
        _ configuration: HeraldConfiguration, _ database: HeraldDatabase, _ brands: LoadedBrands, logos: LogoHouse?,
        gate: StartGate, troubles: StateTroubles, logger: Logger, whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        guard let access = configuration.directory else { return nil }
        self.logger = logger
        let publisher = BrandingPublisher(current: brands.current, cache: brands.store, logger: logger)
        let device = DeviceIdentity(
            id: Self.deviceID(configuration, troubles), platform: access.platform,
            systemVersion: ProcessInfo.processInfo.operatingSystemVersionString, version: Herald.version)
        var settings = try access.settings(version: Herald.version)
        if access.isBearer {
            var bearer = BearerSettings(device: device, tokenFile: configuration.state + "/directory-tokens")
            bearer.onSignedOut = { await publisher.closeUnauthorised() }
            settings.bearer = bearer
        }
        let client = DirectoryClient(settings, logger: logger)
        let (indexFile, store) = (brands.indexFile, brands.store)
        let rebuild = IndexRebuild { try await indexFile.rebuild() }
        let keeper = logos?.keeper(brands.current) { await publisher.publish(try await rebuild.run()) }
        let sync = SyncService(
            client: client, cache: store, publisher: publisher, device: device, stateFolder: configuration.state,
            schedule: access.schedule, logger: logger, whileSyncing: whileSyncing,
            index: {
                keeper?.brandsChanged()
                return try await rebuild.run()
            })
        sender = EventSender(
            client: client, outbox: EventOutboxStore(database), publisher: publisher, device: device, logger: logger)
        remote = RemoteConfigurationService(client: client, device: device, logger: logger)
        lifetime = CacheLifetime(publisher: publisher, word: client.word, own: access.cacheLifetime) {
            // Before the first sync of this run the stored one counts.
            if let age = sync.successAge { return Timekeeper.system.now() - age }
            return try? await store.syncState().lastSync
        }
        lookup = access.lookup.map { lookup in
            NumberLookup(
                client: client, device: device, publisher: publisher,
                schedule: LookupSchedule(perMinute: lookup.perMinute, negativeTTL: lookup.negativeTTL),
                logger: logger, store: { try await store.addProvisional($0) }, index: { try await rebuild.run() })
        }
        self.sync = sync
        self.publisher = publisher
        self.client = client
        self.device = device
        services =
            [client, sync, sender, remote, lifetime] + (lookup.map { [$0] } ?? [])
            + (logos?.services(keeper, gate: gate) ?? [])
    }

    /// The gateway's id at the directory; one of this run where the state folder holds none and takes none.
    private static func deviceID(_ configuration: HeraldConfiguration, _ troubles: StateTroubles) -> String {
        do throws(DeviceIdentityError) {
            return try DeviceIdentity.id(inStateFolder: configuration.state)
        } catch {
            troubles.add("\(error); until the next start the directory sees another device")
            return (try? DeviceIdentity.id(inStateFolder: configuration.runtime)) ?? UUID().uuidString.lowercased()
        }
    }

    /// Nil unless the operator allows uploads.
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
