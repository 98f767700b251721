// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import GatewayStore
import GatewaySync
import SIPCore
import SIPTransport

/// The source of the health, metrics and status pages.
struct GatewayStatusReport: GatewayStatusSource {
    let id: String
    let listening: [String]
    /// Seconds since 1970.
    let startedAt: Int64
    let counters: GatewayCounters
    let shards: GatewayShards
    let health: TargetRegistry
    /// Nil where no address uses TCP or TLS.
    let streams: StreamCounters?
    let identities: [ListenerIdentity]
    let branding: CurrentBranding
    let recorder: OutcomeRecorder
    let reader: LedgerReader
    let troubles: StateTroubles
    let link: DirectoryLink?
    /// Nil where logos are neither fetched nor served.
    let logos: LogoServices?
    /// True where no sync is awaited: brands come from a file, or branding is off.
    let isSettledWithoutSync: Bool
    let rejections: RejectionService
    let traces: TraceServices

    func counters() async -> [CounterSample] {
        callCounters() + signalingCounters() + streamCounters() + outcomeCounters() + (link?.counters ?? [])
            + (logos?.traffic.samples ?? []) + traces.counters
    }

    func gauges() async -> [GaugeSample] {
        let snapshot = branding.load()
        return callPathGauges(snapshot) + outcomeGauges() + peerGauges() + directoryGauges(snapshot)
            + (await logos?.gauges() ?? [])
    }

    func status() async -> GatewayStatus {
        let snapshot = branding.load()
        let backlog = try? reader.backlog()
        var status = GatewayStatus(
            gateway: id, version: HeraldVersion.current, startedAt: startedAt, listening: listening,
            branding: brandingStatus(snapshot), sync: syncStatus, gates: await link?.gates(snapshot.gates) ?? [],
            directory: link?.standing,
            outbox: .init(waiting: backlog?.waiting ?? 0, refused: backlog?.refused ?? 0), logos: await logos?.status(),
            transactions: shards.transactions, ledgerProblem: recorder.totals.problem,
            stateProblems: troubles.texts, isDraining: shards.shared.isDraining)
        status.rejected = rejections.latest
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
