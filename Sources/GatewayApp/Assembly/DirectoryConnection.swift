// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import GatewaySync
import Logging

/// The HTTP client with the gateway's identity at the directory, and the services built directly on both.
struct DirectoryConnection {
    let client: DirectoryClient
    let device: DeviceIdentity
    let publisher: BrandingPublisher
    private let store: BrandCacheStore
    private let logger: Logger

    /// Reads the device id and the files of `directory.tls`; sends nothing.
    init(
        _ configuration: HeraldConfiguration, _ access: HeraldConfiguration.DirectoryAccess, _ brands: LoadedBrands,
        _ publisher: BrandingPublisher, _ troubles: StateTroubles, _ logger: Logger
    ) throws {
        self.logger = logger
        store = brands.store
        device = DeviceIdentity(
            id: Self.deviceID(configuration, troubles), platform: access.platform,
            systemVersion: ProcessInfo.processInfo.operatingSystemVersionString, version: HeraldVersion.number)
        var settings = try access.settings(version: HeraldVersion.current)
        if access.isBearer {
            settings.bearer = BearerSettings(device: device, tokenFile: configuration.tokenFile)
        }
        client = DirectoryClient(settings, logger: logger)
        self.publisher = publisher
    }

    /// The gateway's id at the directory; an id for this run where the state folder holds none and accepts none.
    private static func deviceID(_ configuration: HeraldConfiguration, _ troubles: StateTroubles) -> String {
        do throws(DeviceIdentityError) {
            return try DeviceIdentity.id(inStateFolder: configuration.state)
        } catch {
            troubles.add("\(error); until the next start the directory sees another device")
            return (try? DeviceIdentity.id(inStateFolder: configuration.runtime)) ?? UUID().uuidString.lowercased()
        }
    }

    /// The service that keeps stored records, index and gates in step with the directory.
    ///
    /// - Parameter onBrands: called when records have changed, before the index is rebuilt.
    func sync(
        _ configuration: HeraldConfiguration, _ access: HeraldConfiguration.DirectoryAccess, _ rebuild: IndexRebuild,
        whileSyncing: @escaping @Sendable (Bool) -> Void, onBrands: @escaping @Sendable () -> Void
    ) -> SyncService {
        SyncService(
            client: client, cache: store, publisher: publisher, device: device, stateFolder: configuration.state,
            schedule: access.schedule, logger: logger, whileSyncing: whileSyncing,
            index: {
                onBrands()
                return try await rebuild.run()
            })
    }

    /// The service that closes the gate when the last good sync is too old.
    func lifetime(_ access: HeraldConfiguration.DirectoryAccess, _ sync: SyncService) -> CacheLifetime {
        CacheLifetime(publisher: publisher, state: client.state, own: access.cacheLifetime) { [store] in
            // Before the first sync of this run the stored time counts.
            if let age = sync.successAge { return ServiceClock.system.now() - age }
            return try? await store.syncState().lastSync
        }
    }

    /// The service that asks the directory about unknown callers after their call.
    ///
    /// - Parameter sync: its successes let brands that no sync has listed be looked up again.
    func lookup(_ settings: HeraldConfiguration.Lookup, _ rebuild: IndexRebuild, _ sync: SyncService) -> NumberLookup {
        let lookup = NumberLookup(
            client: client, device: device, publisher: publisher,
            schedule: LookupSchedule(perMinute: settings.perMinute, negativeTTL: settings.negativeTTL),
            logger: logger, store: { [store] in try await store.addProvisional($0) },
            unconfirmed: NumberLookup.Unconfirmed(
                numbers: { [store] in try await store.provisional(limit: $0) },
                replace: { [store] in try await store.replaceProvisional($0, by: $1) }),
            index: { try await rebuild.run() })
        sync.onSuccess { lookup.synced() }
        return lookup
    }
}
