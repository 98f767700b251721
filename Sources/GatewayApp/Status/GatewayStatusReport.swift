// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayStore
import GatewaySync
import MetricsPage
import SIPCore
import SIPTransport

/// The source of the health, metrics and status pages.
struct GatewayStatusReport: GatewayStatusSource {
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
    private let currentLink: @Sendable () -> DirectoryLink?
    let customers: CustomerMetrics
    /// Nil where logos are neither fetched nor served.
    let logos: LogoServices?
    let rejections: RejectionService
    let lastReload: LastReload
    let endedCalls: EndedCallCounts
    let traces: TraceServices
    /// Nil for a gateway that is alone.
    let siblings: SiblingMetrics?
    /// Nil without a shared ledger.
    let sharedLedger: SharedLedgerMetrics?
    let outputs: CallOutputs

    /// The link to the directory in force; nil where none is configured.
    var link: DirectoryLink? { currentLink() }

    /// True where no sync is awaited: no directory is configured, or branding is off.
    private var isSettledWithoutSync: Bool { link == nil || !shards.shared.settings.load().brands }

    func counters() async -> [CounterSample] {
        callCounters() + endedCalls.counters + signalingCounters() + streamCounters() + outcomeCounters()
            + (link?.counters ?? [])
            + (logos?.traffic.samples ?? []) + traces.counters + targetCounters() + (siblings?.counters ?? [])
            + (sharedLedger?.counters ?? []) + customers.counters + outputs.counters
    }

    func gauges() async -> [GaugeSample] {
        let snapshot = branding.load()
        return operationGauges() + callPathGauges(snapshot) + outcomeGauges() + peerGauges() + directoryGauges(snapshot)
            + (await logos?.gauges() ?? []) + (siblings?.gauges ?? []) + (sharedLedger?.gauges ?? [])
            + customers.gauges() + outputs.gauges
    }

    func histograms() async -> [HistogramSample] { durations() }

    func status() async -> GatewayStatus {
        let snapshot = branding.load()
        let backlog = try? reader.backlog()
        var status = GatewayStatus(
            gateway: id, version: HeraldVersion.current, startedAt: startedAt, listening: listening,
            branding: brandingStatus(snapshot), sync: syncStatus, gates: await link?.gates(snapshot.gates) ?? [],
            directory: link?.standing,
            outbox: .init(waiting: backlog?.waiting ?? 0, refused: backlog?.refused ?? 0), logos: await logos?.status(),
            transactions: shards.transactions, ledgerProblem: recorder.totals.problem,
            stateProblems: stateProblems(), isDraining: shards.shared.isDraining)
        status.rejected = rejections.latest
        status.unknownCallers = rejections.unknownCallers.map {
            GatewayStatus.UnknownCallers($0, settings.configuration.trunks)
        }
        status.sharedLedger = sharedLedger?.status
        status.callRecords = outputs.status
        status.siblings = siblings?.status ?? []
        status.customers = customers.status
        addPeers(to: &status)
        return status
    }

    private func brandingStatus(_ snapshot: BrandingSnapshot) -> GatewayStatus.Branding {
        let isLoaded = snapshot.index.count > 0 || link?.sync.status.lastSuccess != nil
        return .init(
            isSettled: isSettledWithoutSync || isLoaded || snapshot.gates.closed != nil,
            numbers: snapshot.index.count, brands: snapshot.index.brandCount, generation: snapshot.index.generation,
            gate: snapshot.gates.closed?.description)
    }

    private var syncStatus: GatewayStatus.Sync? {
        link.map(\.sync.status).map { sync in
            .init(
                result: sync.result.rawValue, lastSuccess: sync.lastSuccess, lastFullSuccess: sync.lastFullSuccess,
                nextAt: sync.nextAt, failuresInARow: sync.failuresInARow, lastError: sync.lastError)
        }
    }
}
