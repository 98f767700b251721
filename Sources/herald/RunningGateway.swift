// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle
import SystemReasons
import UnixSignals

/// All parts of a running gateway, built in the order they need each other.
///
/// Nothing is sent before everything is there: a taken port or a folder of another gateway ends the start with a message, and no
/// call was touched. A folder or file of its own that is damaged or cannot be written ends no start (`StateTroubles`).
struct RunningGateway {
    private let logger: Logger
    private let recorder: OutcomeRecorder
    private let database: HeraldDatabase
    /// The folders are this gateway's until its end.
    private let claims: [FolderClaim]
    private var services: [any Service] = []

    /// - Parameters:
    ///   - path: the file the configuration came from, read again at SIGHUP.
    ///   - hangups: each SIGHUP since before the start.
    init(
        _ configuration: HeraldConfiguration, path: String, hangups: UnixSignalsSequence, recentLog: RecentLog,
        logger: Logger
    ) async throws {
        self.logger = logger
        let troubles = StateTroubles(logger: logger)
        claims = try StateFolder.claim(
            [("gateway.state", configuration.state), ("gateway.runtime", configuration.runtime)], telling: troubles)
        // The longest part of a start goes on beside all the others.
        let savedIndex = configuration.brandsFile == nil ? BrandCacheIndexFile.reading(in: configuration.state) : nil
        let secret = GatewaySecret(in: configuration.state, spare: configuration.runtime, telling: troubles)
        let hasStreams = configuration.listen.contains { $0.transport != .udp }
        let files = OpenFiles.allow(connections: hasStreams ? configuration.streams.connections : 0)
        if let shortage = files.shortage { logger.warning("\(shortage)") }
        let memory = MemoryLimit.current()
        let reachability = ReachabilityLog(logger: logger)
        var transport = try OpenTransport(
            configuration, streamConnections: files.connectionsWithRoom, onTrouble: reachability.tell)
        try await transport.start()
        let bound = transport.bound
        let budget = TransactionBudget(configured: configuration.limits.maxTransactions, memory: memory.bytes)
        let foundation = GatewayFoundation(
            bound: bound, secret: secret.secret, health: TargetHealthBoard(onChange: reachability.tell),
            trunks: TrunkRegister(onRegistrar: reachability.tell), mostTransactions: budget.most)
        let streams = transport.streams
        let settings = try LiveSettings(configuration, on: foundation) { streams?.setPeers($0) }
        let resolver = NextHopResolver(configuration, settings: settings, logger: logger)

        let (database, logos, brands) = try await Self.loaded(configuration, savedIndex, troubles, logger)
        self.database = database
        let ring = try Self.ring(configuration, troubles)
        let recorder = OutcomeRecorder(
            database: database, ring: ring, settings: try configuration.recorderSettings(),
            log: Logger(label: "herald.outcome"))
        self.recorder = recorder

        let counters = GatewayCounters()
        let shared = GatewayShared(
            settings: settings.current, branding: brands.current, counters: counters, signals: ring,
            probes: TargetProber(seed: UInt64(Moment.now().wallMicroseconds)), calls: CallsInProgress())
        let workers = GatewayWorkers(shared, threads: transport.workers)
        let gate = StartGate()
        let link = try DirectoryLink(
            configuration, database, brands, logos: logos, gate: gate, troubles: troubles, logger: logger,
            whileSyncing: workers.goFirst)
        services = [
            RecorderService(recorder: recorder), RecorderWatchService(recorder: recorder),
            StateWatchService(claims: claims, secret: secret, troubles: troubles),
        ]
        if let lookup = link?.lookup { recorder.onUnknownCaller { lookup.ended(callFrom: $0) } }
        if let lines = EndedCallLog(configuration.log) { recorder.onEndedCalls { lines.note($0) } }
        services += link?.services ?? []
        if let outputs = configuration.outcomes.outputService(database, logger: Logger(label: "herald.records")) {
            services.append(outputs)
        }
        let rejections = RejectionService(shared.rejections, logger: Logger(label: "herald.peers"))
        services.append(rejections)
        let status = GatewayStatusReport(
            id: configuration.id, listening: bound.map(\.description),
            startedAt: Int64(Date().timeIntervalSince1970), counters: counters, shards: workers.shards,
            health: foundation.health, streams: streams?.counters, identities: transport.identities,
            branding: brands.current,
            recorder: recorder, reader: LedgerReader(database), troubles: troubles, link: link, logos: logos,
            isSettledWithoutSync: configuration.directory == nil || !configuration.branding.isEnabled,
            rejections: rejections)
        if let uploader = link?.debugUploader(configuration, brands.current, recentLog, status) {
            services.append(uploader)
        }
        if let admin = configuration.admin {
            services.append(
                AdminServer(
                    HTTPListener(admin, key: "admin.listen", onListening: gate.expectServer()), source: status,
                    logger: Logger(label: "herald.admin")))
        }
        services.append(
            ControlServer(
                folder: configuration.runtime, control: OperatorControl(sync: link?.sync, branding: brands.current),
                logger: Logger(label: "herald.control")))
        services.append(
            ReloadService(
                hangups: hangups, path: path, configuration: configuration, settings: settings, streams: streams,
                resolver: resolver,
                recorder: recorder, logger: logger))
        services.append(ResolverService(resolver: resolver))
        services.append(
            WorkerService(
                workers: workers, streams: streams, drain: configuration.drain, gate: gate, logger: logger
            ) {
                Self.announce(configuration, bound, brands.current.load().index.count, logger)
                budget.announce(memory, logger)
            })
    }

    /// The signal ring in its file; in memory where that cannot be made, for no call waits for an operator.
    private static func ring(
        _ configuration: HeraldConfiguration, _ troubles: StateTroubles
    ) throws -> SignalRing {
        let capacity = configuration.outcomes.ringSlots
        do throws(SignalRingError) {
            return try SignalRing(path: configuration.runtime + "/signals.ring", capacity: capacity)
        } catch {
            guard error.problem != .inUse else { throw error }
            let ring = try SignalRing(inMemory: capacity)
            troubles.add("\(error); it is kept in memory, and a kill of herald costs the signals of its last moments")
            return ring
        }
    }

    /// The database with what calls need of it: brand records that cannot be read stop none, for the directory has them.
    private static func loaded(
        _ configuration: HeraldConfiguration, _ savedIndex: Task<SavedBrandIndex, any Error>?,
        _ troubles: StateTroubles,
        _ logger: Logger
    ) async throws -> (HeraldDatabase, LogoHouse?, LoadedBrands) {
        func load(_ database: HeraldDatabase) async throws -> (HeraldDatabase, LogoHouse?, LoadedBrands) {
            for notice in database.notices { troubles.add(notice) }
            let logos = configuration.logos.map { LogoHouse($0, database, stateFolder: configuration.state) }
            let brands = try await LoadedBrands(configuration, database, savedIndex, logos: logos, logger: logger)
            return (database, logos, brands)
        }
        let database = HeraldDatabase(ofGateway: configuration.state, spare: configuration.runtime)
        do {
            return try await load(database)
        } catch {
            guard let damage = database.damage(shownBy: error) else { throw error }
            return try await load(database.withoutBrands(because: damage, spare: configuration.runtime))
        }
    }

    /// Runs until SIGTERM or SIGINT; what the ring still holds is stored before it returns.
    func run() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
        _ = try? recorder.drain()
        try? database.close()
        logger.info("stopped; calls in progress go on with the next start")
    }

    private static func announce(
        _ configuration: HeraldConfiguration, _ bound: [PeerAddress], _ numbers: Int, _ logger: Logger
    ) {
        for (listener, address) in zip(configuration.listen, bound) {
            logger.info(
                "listening", metadata: ["name": "\(listener.name)", "\(listener.transport.rawValue)": "\(address)"])
        }
        for remark in configuration.remarks { logger.notice("\(remark)") }
        CertificateReport.warn(of: configuration, logger)
        logger.info(
            "ready for calls",
            metadata: [
                "trunks": "\(configuration.trunks.count)", "pbx": "\(configuration.pbx.count)", "numbers": "\(numbers)",
            ])
    }
}

/// The brands the gateway starts with: the stored copy of the directory's, or those of a local file.
struct LoadedBrands {
    let current: CurrentBranding
    let store: BrandCacheStore
    let indexFile: BrandCacheIndexFile

    init(
        _ configuration: HeraldConfiguration, _ database: HeraldDatabase,
        _ savedIndex: Task<SavedBrandIndex, any Error>?, logos: LogoHouse?, logger: Logger
    ) async throws {
        store = BrandCacheStore(database)
        let profile = configuration.renderingProfile
        indexFile = BrandCacheIndexFile(
            store, folder: configuration.state, profile: profile, logos: logos?.store, logger: logger)
        if let path = configuration.brandsFile {
            let file = BrandFile(path: path, stateFolder: configuration.state, profile: profile, logger: logger)
            current = CurrentBranding(BrandingSnapshot(index: try file.loadIndex(), gates: BrandingGates()))
        } else {
            var gates = try await store.syncState().gates
            gates.obeysVoipDialer = configuration.directory?.voipDialer == .obey
            current = CurrentBranding(BrandingSnapshot(index: try await indexFile.load(savedIndex), gates: gates))
        }
    }
}
