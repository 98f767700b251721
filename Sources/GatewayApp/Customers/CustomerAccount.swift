// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle
import Synchronization

/// The directory account of one customer, or of several with the same settings: one copy of the brands and one sync.
///
/// Its folder is named by the account, so no copy of another account is ever in it.
final class CustomerAccount: Sendable {
    let access: HeraldConfiguration.DirectoryAccess
    /// A customer, for log lines.
    let name: String
    /// The brands and gates of its customers' calls.
    let current: CurrentBranding
    /// The folder of brands, device id and tokens.
    let folder: String
    let sync: SyncService
    let publisher: BrandingPublisher
    let client: DirectoryClient
    let device: DeviceIdentity
    private let brands: LoadedBrands
    private let hasBrands: Atomic<Bool>
    private let remote: RemoteConfigurationService
    private let lifetime: CacheLifetime
    private let logger: Logger

    /// Opens the folder; the brands are empty before `load`.
    ///
    /// - Parameters:
    ///   - name: a customer, for log lines.
    ///   - earlier: the account that this one continues: its brands stay in force.
    ///   - share: puts an index in force in the memory of an equal one.
    /// - Throws: errors of the API key and of the files of `tls`.
    init(
        _ access: HeraldConfiguration.DirectoryAccess, of name: String, _ start: GatewayStart,
        _ troubles: StateTroubles, continuing earlier: CustomerAccount? = nil,
        sharing share: @escaping BrandingPublisher.Share,
        whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        self.access = access
        self.name = name
        var logger = Logger(label: "herald.customers")
        logger[metadataKey: "customer"] = "\(name)"
        self.logger = logger
        let folder = CustomerFolders.path(
            ofAccount: try access.settings(version: HeraldVersion.current).account, in: start.configuration.state)
        self.folder = folder
        var own = start.configuration
        (own.state, own.runtime, own.directory) = (folder, folder, access)
        brands = LoadedBrands(accountIn: folder, own, current: earlier?.current, logger: logger)
        current = brands.current
        hasBrands = Atomic(earlier != nil)
        publisher = BrandingPublisher(
            current: brands.current, cache: brands.store, logger: logger, share: share)
        let connection = try DirectoryConnection(own, access, brands, publisher, troubles, logger)
        (client, device) = (connection.client, connection.device)
        let indexFile = brands.indexFile
        let rebuild = IndexRebuild { try await indexFile.rebuild() }
        let store = brands.store
        sync = connection.sync(
            own, access, rebuild,
            whileSyncing: { isSyncing in
                whileSyncing(isSyncing)
                if !isSyncing { store.rest() }
            }, onBrands: {})
        remote = RemoteConfigurationService(client: client, device: device, logger: logger)
        lifetime = connection.lifetime(access, sync)
    }

    /// True once `load` has run, or if the account continues another one.
    var isLoaded: Bool { hasBrands.load(ordering: .relaxed) }

    /// Loads the stored brands and gates.
    func load() async {
        hasBrands.store(true, ordering: .relaxed)
        defer { brands.store.rest() }
        do {
            var gates = try await brands.store.syncState().gates
            gates.obeysVoipDialer = access.voipDialer == .obey
            let stored = gates
            await publisher.change { _ in stored }
            await publisher.publish(try await brands.indexFile.load())
        } catch {
            logger.warning(
                "the stored brands cannot be read; the next sync replaces them", metadata: ["error": "\(error)"])
            sync.syncNow(full: true)
        }
    }

    /// The sender of one customer's events.
    ///
    /// - Parameter polls: false where `CustomerOutboxWatch` wakes the sender when an event is due.
    func sender(of customer: String, _ database: HeraldDatabase, polls: Bool = false) -> EventSender {
        var schedule = EventSchedule(concurrency: 2)
        if !polls { schedule.idle = .seconds(600) }
        return EventSender(
            client: client, outbox: EventOutboxStore(database, of: customer), publisher: publisher, device: device,
            schedule: schedule, logger: logger)
    }

    /// The services of the account, in the order of their start.
    func services(_ senders: [EventSender]) -> [any Service] { [client, sync, remote, lifetime] + senders }
}

/// Reports that customers have neither open calls nor waiting events.
struct LastEvents: Service {
    let customers: [String]
    let reader: LedgerReader
    let onEnd: @Sendable () -> Void
    /// Looks without work before the end: a call is in the ledger a second after its INVITE.
    private static let looks = 5

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var quiet = 0
            while !Task.isCancelled, quiet < Self.looks {
                let isBusy = customers.contains { (try? reader.hasWork(of: $0)) ?? true }
                quiet = isBusy ? 0 : quiet + 1
                try? await Task.sleep(for: .seconds(1))
            }
        }
        onEnd()
        try? await gracefulShutdown()
    }
}
