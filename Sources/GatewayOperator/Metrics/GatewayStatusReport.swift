// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import CallPath
import ConfigurationFiles
package import GatewayConfiguration
package import GatewayStore
import GatewaySync
package import Host
package import SIPCore
package import SIPTransport

/// The source of the health, metrics and status pages.
package struct GatewayStatusReport: GatewayStatusSource {
    let id: String
    let listening: [String]
    /// Seconds since 1970.
    let startedAt: Int64
    let counters: GatewayCounters
    let present: PresentCalls
    let shards: GatewayShards
    /// The delay that the threads add to calls, in seconds.
    let delays: @Sendable () -> Distribution
    let health: TargetRegistry
    let settings: LiveSettings
    /// Nil where no address uses TCP or TLS.
    let streams: StreamCounters?
    let identities: [ListenerIdentity]
    let branding: CurrentBranding
    let recorder: OutcomeRecorder
    let reader: LedgerReader
    /// Problems of folders and files, each with its remedy.
    let stateProblems: @Sendable () -> [String]
    private let accounts: @Sendable () -> [DirectoryAccount]
    let customers: CustomerMetrics
    /// Nil where logos are neither fetched nor served.
    let logos: LogoServices?
    let rejections: RejectionService
    private let firstCalls = FirstCallWatch()
    let lastReload: LastReload
    let endedCalls: EndedCallCounts
    let traces: TraceServices
    /// Nil for a gateway that is alone.
    let siblings: SiblingMetrics?
    /// Nil without a shared ledger.
    let sharedLedger: SharedLedgerMetrics?
    /// Nil without a `trust` section.
    let trust: TrustMetrics?
    let outputs: CallOutputs
    let doors: DoorMetrics
    /// The last reading of alarms.
    package let alarms = AlarmStanding()

    /// - Parameters:
    ///   - startedAt: seconds since 1970.
    ///   - delays: the delay that the threads add to calls, in seconds.
    ///   - accounts: the directory accounts in force.
    ///   - routed: the customers that calls have been routed to.
    package init(
        id: String, listening: [String], startedAt: Int64, counters: GatewayCounters, present: PresentCalls,
        shards: GatewayShards, delays: @escaping @Sendable () -> Distribution, health: TargetRegistry,
        settings: LiveSettings, streams: StreamCounters?, identities: [ListenerIdentity], branding: CurrentBranding,
        recorder: OutcomeRecorder, reader: LedgerReader, stateProblems: @escaping @Sendable () -> [String],
        accounts: @escaping @Sendable () -> [DirectoryAccount], routed: @escaping @Sendable () -> [CallCustomer],
        logos: LogoServices?,
        rejections: RejectionService, lastReload: LastReload, endedCalls: EndedCallCounts, traces: TraceServices,
        siblings: SiblingMetrics?, sharedLedger: SharedLedgerMetrics?, trust: TrustMetrics?,
        outputs: CallOutputs, doors: DoorMetrics
    ) {
        self.id = id
        self.listening = listening
        self.startedAt = startedAt
        self.counters = counters
        self.present = present
        self.shards = shards
        self.delays = delays
        self.health = health
        self.settings = settings
        self.streams = streams
        self.identities = identities
        self.branding = branding
        self.recorder = recorder
        self.reader = reader
        self.stateProblems = stateProblems
        self.accounts = accounts
        customers = CustomerMetrics(routed: routed, accounts: accounts, reader: reader)
        self.logos = logos
        self.rejections = rejections
        self.lastReload = lastReload
        self.endedCalls = endedCalls
        self.traces = traces
        self.siblings = siblings
        self.sharedLedger = sharedLedger
        self.trust = trust
        self.outputs = outputs
        self.doors = doors
    }

    /// The account of the section `directory`; nil where none is configured.
    var directory: DirectoryAccount? { accounts().first { $0.settings.key == .usual } }

    /// True where no sync is awaited: no directory is configured, or branding is off.
    private var isSettledWithoutSync: Bool { directory == nil || !shards.shared.settings.load().brands }

    func counters() async -> [CounterSample] {
        let shared = (sharedLedger?.counters ?? []) + (await trust?.counters() ?? [])
        return callCounters() + endedCalls.counters + signalingCounters() + streamCounters() + outcomeCounters()
            + (directory?.counters ?? [])
            + (logos?.traffic.samples ?? []) + traces.counters + targetCounters() + (siblings?.counters ?? [])
            + shared + customers.counters + outputs.counters + doors.counters
            + alarms.counters
    }

    func gauges() async -> [GaugeSample] {
        let snapshot = branding.load()
        let shared = (sharedLedger?.gauges ?? []) + (await trust?.gauges() ?? [])
        return operationGauges() + callPathGauges(snapshot) + outcomeGauges() + peerGauges() + directoryGauges(snapshot)
            + (await logos?.gauges() ?? []) + (siblings?.gauges ?? []) + shared + customers.gauges() + outputs.gauges
            + alarms.gauges
    }

    func histograms() async -> [HistogramSample] { durations() }

    func status() async -> GatewayStatus {
        let snapshot = branding.load()
        var status = GatewayStatus(
            gateway: id, version: HeraldVersion.current, startedAt: startedAt, listening: listening,
            branding: brandingStatus(snapshot), sync: syncStatus, gates: await directory?.gates(snapshot.gates) ?? [],
            directory: directory?.standing,
            outbox: (try? reader.backlog()) ?? EventBacklog(), logos: await logos?.status(),
            transactions: shards.transactions, ledgerProblem: recorder.totals.problem,
            stateProblems: stateProblems(), isDraining: shards.shared.isDraining)
        status.rejected = rejections.latest
        status.unknownCallers = rejections.unknownCallers.map {
            GatewayStatus.UnknownCallers($0, settings.configuration.trunks)
        }
        status.sharedLedger = sharedLedger?.status
        status.trust = await trust?.status()
        status.callRecords = outputs.status
        status.doors = doors.status(settings.configuration.doors)
        status.siblings = siblings?.status ?? []
        status.customers = customers.status
        addPeers(to: &status)
        let inShadow = settings.configuration.namesInShadow
        status.shadow = inShadow.isEmpty ? nil : inShadow
        status.firstSteps = FirstSteps.of(status, settings.configuration, seenCalls)
        return status
    }

    private var seenCalls: FirstCalls {
        firstCalls.seen(inbound: counters.count(.inboundCalls), branded: counters.count(.callsBranded)) {
            try reader.firstCalls()
        }
    }

    private func brandingStatus(_ snapshot: BrandingSnapshot) -> GatewayStatus.Branding {
        let isLoaded = snapshot.index.count > 0 || directory?.sync.status.lastSuccess != nil
        return .init(
            isSettled: isSettledWithoutSync || isLoaded || snapshot.gates.closed != nil,
            numbers: snapshot.index.count, brands: snapshot.index.brandCount, generation: snapshot.index.generation,
            gate: snapshot.gates.closed?.description)
    }

    private var syncStatus: GatewayStatus.Sync? {
        directory.map(\.sync.status).map { sync in
            .init(
                result: sync.result.rawValue, lastSuccess: sync.lastSuccess, lastFullSuccess: sync.lastFullSuccess,
                nextAt: sync.nextAt, failuresInARow: sync.failuresInARow, lastError: sync.lastError)
        }
    }
}
