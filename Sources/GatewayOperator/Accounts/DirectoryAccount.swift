// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
package import GatewayStore
package import GatewaySync
import Logging
package import ServiceLifecycle

/// A directory account in force: the client, and the services that sync, send events and keep logos.
///
/// The section `directory` is the account without a customer. A reload replaces an account whose settings have changed;
/// its brands stay. Any thread.
package final class DirectoryAccount: Sendable {
    package let settings: AccountSettings
    package let brands: AccountBrands
    /// Brings the brands.
    package let sync: SyncService
    /// Sends the events of each customer; those of calls without a customer have the key nil.
    package let senders: [String?: EventSender]
    /// Nil unless `directory.lookup` is enabled.
    package let lookup: NumberLookup?
    /// Reads the directory's remote configuration.
    let remote: RemoteConfigurationService
    /// Closes the gate when the last good sync is too old.
    let lifetime: CacheLifetime
    /// Nil where no copies of logos are kept.
    let logos: LogoService?
    let client: DirectoryClient
    private let device: DeviceIdentity
    private let copies: LogoServices?

    /// Reads the files of `tls`; sends nothing.
    ///
    /// - Parameters:
    ///   - device: the gateway's identity at the directory.
    ///   - earlier: the account that this one replaces. Its removed customers keep a sender.
    ///   - whileSyncing: called with `true` before a sync and `false` after it.
    /// - Throws: errors of the API key and of the files of `tls`.
    package init(
        _ settings: AccountSettings, _ brands: AccountBrands, _ device: DeviceIdentity, _ database: HeraldDatabase,
        replacing earlier: DirectoryAccount? = nil, isReload: Bool,
        whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        self.settings = settings
        self.brands = brands
        self.device = device
        let (access, store, publisher, logger) = (settings.access, brands.store, brands.publisher, brands.logger)
        var connection = try access.settings(version: HeraldVersion.current)
        if access.isBearer {
            connection.bearer = BearerSettings(
                device: device, tokenFile: HeraldConfiguration.tokenFile(in: brands.folder))
        }
        let client = DirectoryClient(connection, logger: logger)
        self.client = client
        let rebuild = brands.rebuild
        let copies = brands.logos(for: settings.logos)
        self.copies = copies
        let logos = settings.logos.flatMap { logos in
            copies?.keeper(logos, isReload: isReload) { await publisher.publish(try await rebuild.run()) }
        }
        self.logos = logos
        let sync = SyncService(
            client: client, cache: store, publisher: publisher, device: device, stateFolder: brands.folder,
            schedule: access.schedule, logger: logger,
            whileSyncing: { isSyncing in
                whileSyncing(isSyncing)
                if !isSyncing { brands.rest() }
            },
            index: {
                logos?.brandsChanged()
                return try await rebuild.run()
            })
        self.sync = sync
        let members = settings.key == .usual ? [nil] : settings.customers.map(Optional.some)
        senders = Set(members).union(earlier.map { Set($0.senders.keys) } ?? []).reduce(into: [:]) { senders, member in
            var schedule = member == nil ? EventSchedule() : EventSchedule(concurrency: 2)
            // `CustomerOutboxWatch` wakes the senders of customers.
            if !settings.customers.isEmpty { schedule.idle = .seconds(600) }
            senders[member] = EventSender(
                client: client, outbox: EventOutboxStore(database, of: member), publisher: publisher, device: device,
                schedule: schedule, logger: logger)
        }
        remote = RemoteConfigurationService(client: client, device: device, logger: logger)
        lifetime = CacheLifetime(publisher: publisher, state: client.state, own: access.cacheLifetime) {
            // Before the first sync of this run the stored time counts.
            if let age = sync.successAge { return ServiceClock.system.now() - age }
            return try? await store.syncState().lastSync
        }
        lookup = access.lookup.map { lookup in
            NumberLookup(
                client: client, device: device, publisher: publisher,
                schedule: LookupSchedule(perMinute: lookup.perMinute, negativeTTL: lookup.negativeTTL),
                logger: logger, store: { try await store.addProvisional($0) },
                unconfirmed: NumberLookup.Unconfirmed(
                    numbers: { try await store.provisional(limit: $0) },
                    replace: { try await store.replaceProvisional($0, by: $1) }),
                index: { try await rebuild.run() })
        }
        if let lookup { sync.onSuccess { lookup.synced() } }
        if brands.takeFullSync() { sync.syncNow(full: true) }
    }

    /// The services of the account, in the order of their start.
    package var services: [any Service] {
        let always: [any Service] = sending + [sync, remote, lifetime]
        return always + (lookup.map { [$0] } ?? []) + (logos.map { [$0] } ?? [])
    }

    /// The services that send events.
    package var sending: [any Service] { [client] + Array(senders.values) }

    /// Applies those settings that the stored brands keep; the services of an earlier account may still end.
    package func takeOver() async {
        let obeys = settings.access.voipDialer == .obey
        await brands.publisher.change { gates in
            var gates = gates
            gates.obeysVoipDialer = obeys
            return gates
        }
        await brands.use(copies, settings.logos)
    }

    /// The service that sends `content` at the directory's request; nil unless `debug_upload` is true.
    package func debugUploader(_ content: DebugUploader.Content) -> DebugUploader? {
        guard settings.access.allowsDebugUpload else { return nil }
        return DebugUploader(
            client: client, device: device, current: brands.current, stateFolder: brands.folder, content: content,
            logger: brands.logger)
    }
}
