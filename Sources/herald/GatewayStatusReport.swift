// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import GatewayStore
import GatewaySync
import SIPCore
import SIPTransport

/// What the running gateway tells the health, metrics and status page.
struct GatewayStatusReport: GatewayStatusSource {
    let id: String
    let listening: [String]
    let startedAt: Int64
    let counters: GatewayCounters
    let shards: GatewayShards
    let health: TargetHealthBoard
    /// Nil where no address speaks TCP or TLS.
    let streams: StreamCounters?
    let identities: [ListenerIdentity]
    let branding: CurrentBranding
    let recorder: OutcomeRecorder
    let reader: LedgerReader
    let troubles: StateTroubles
    let link: DirectoryLink?
    /// Nil where logos are neither fetched nor served.
    let logos: LogoHouse?
    /// True where brands come from a file or from nowhere, so that no sync has to be waited for.
    let isSettledWithoutSync: Bool
    let rejections: RejectionService

    func counters() async -> [CounterSample] {
        callCounters() + signalingCounters() + streamCounters() + outcomeCounters() + (link?.counters ?? [])
            + (logos?.traffic.samples ?? [])
    }

    func gauges() async -> [GaugeSample] {
        let snapshot = branding.load()
        var gauges = [
            GaugeSample(
                name: "herald_brand_numbers", help: "Numbers that calls can be branded from",
                value: Double(snapshot.index.count)),
            GaugeSample(
                name: "herald_branding_open", help: "1 when the directory's gates are open",
                value: snapshot.gates.closed == nil ? 1 : 0),
            GaugeSample(
                name: "herald_transactions", help: "SIP transactions in memory",
                value: Double(shards.transactions)),
            GaugeSample(
                name: "herald_transactions_limit", help: "SIP transactions in memory from which new calls get 503",
                value: Double(shards.shared.settings.load().mostTransactions)),
            GaugeSample(
                name: "herald_calls_in_progress", help: "Calls that have begun and not ended",
                value: Double(shards.shared.calls.count)),
            GaugeSample(
                name: "herald_open_calls", help: "Calls whose end is not known yet",
                value: Double(recorder.totals.openCalls)),
            GaugeSample(
                name: "herald_ledger_refuses", help: "1 while outcomes cannot be stored, such as on a full disk",
                value: recorder.totals.problem == nil ? 0 : 1),
            GaugeSample(
                name: "herald_state_problems", help: "Things wrong with the folders and files of the gateway",
                value: Double(troubles.texts.count)),
            GaugeSample(
                name: "herald_recorder_age_seconds", help: "Seconds since the recorder has finished a round",
                value: recorder.age / .seconds(1)),
        ]
        let now = Moment.monotonicMilliseconds()
        gauges += health.all.map { target in
            GaugeSample(
                name: "herald_target_up", help: "1 when calls go to the target",
                labels: [
                    MetricLabel("target", target.name), MetricLabel("group", target.group),
                    MetricLabel("address", target.address),
                ], value: target.isUp(at: now) ? 1 : 0)
        }
        if let streams {
            gauges.append(
                GaugeSample(
                    name: "herald_stream_connections", help: "TCP and TLS connections that are open",
                    value: Double(streams.openConnections)))
        }
        gauges += identities.compactMap { $0.gauge(at: Int64(Date().timeIntervalSince1970)) }
        if let backlog = try? reader.backlog() {
            gauges.append(
                GaugeSample(
                    name: "herald_events_waiting", help: "Events not yet taken by the directory",
                    value: Double(backlog.waiting)))
            gauges.append(
                GaugeSample(
                    name: "herald_events_refused", help: "Events the directory refused, kept for the operator",
                    value: Double(backlog.refused)))
        }
        if let age = link?.sync.successAge {
            gauges.append(
                GaugeSample(
                    name: "herald_sync_age_seconds", help: "Seconds since the last successful sync",
                    value: Double(age)))
        }
        if let link { gauges += link.gauges(snapshot.gates) }
        return gauges + (await logos?.gauges() ?? [])
    }

    func status() async -> GatewayStatus {
        let snapshot = branding.load()
        let sync = link?.sync.status
        let backlog = try? reader.backlog()
        var status = GatewayStatus(
            gateway: id, version: Herald.version, startedAt: startedAt, listening: listening,
            branding: .init(
                isSettled: isSettledWithoutSync || snapshot.index.count > 0 || sync?.lastSuccess != nil
                    || snapshot.gates.closed != nil,
                numbers: snapshot.index.count, brands: snapshot.index.brandCount, generation: snapshot.index.generation,
                gate: snapshot.gates.closed?.description),
            sync: sync.map { sync in
                .init(
                    result: sync.result.rawValue, lastSuccess: sync.lastSuccess, lastFullSuccess: sync.lastFullSuccess,
                    nextAt: sync.nextAt, failuresInARow: sync.failuresInARow, lastError: sync.lastError)
            },
            gates: await link?.gates(snapshot.gates) ?? [], directory: link?.standing,
            outbox: .init(waiting: backlog?.waiting ?? 0, refused: backlog?.refused ?? 0), logos: await logos?.status(),
            transactions: shards.transactions, ledgerProblem: recorder.totals.problem,
            stateProblems: troubles.texts, isDraining: shards.shared.isDraining)
        status.rejected = rejections.latest
        addPeers(to: &status)
        return status
    }

    private func callCounters() -> [CounterSample] {
        let help = "Calls from trunks by what became of their branding"
        let branded = CounterSample(
            name: "herald_calls_total", help: help, labels: [MetricLabel("decision", "matched")],
            value: counters.count(.callsBranded))
        return [branded]
            + PassThroughReason.allCases.filter { $0 != .outbound }.map { reason in
                CounterSample(
                    name: "herald_calls_total", help: help, labels: [MetricLabel("decision", reason.description)],
                    value: counters.count(reason))
            }
    }

    private func signalingCounters() -> [CounterSample] {
        let drops = SIPIndexError.allCases.map { error in
            CounterSample(
                name: "herald_datagrams_dropped_total", help: "Datagrams that were no SIP message, by reason",
                labels: [MetricLabel("reason", error.rawValue)], value: counters.count(error))
        }
        let plain: [(String, String, GatewayCounters.Event)] = [
            ("herald_datagrams_received_total", "Datagrams received", .datagramsReceived),
            ("herald_datagrams_truncated_total", "Datagrams larger than the receive buffer", .datagramsTruncated),
            ("herald_datagrams_unsent_total", "Datagrams the system refused to send", .datagramsUnsent),
            (
                "herald_requests_forwarded_total", "Requests forwarded with a transaction, calls not counted",
                .requestsForwarded
            ),
            ("herald_responses_forwarded_total", "Responses forwarded with a transaction", .responsesForwarded),
            ("herald_retransmissions_absorbed_total", "Requests that were repetitions", .retransmissionsAbsorbed),
            ("herald_stateless_forwards_total", "Messages forwarded without a transaction", .forwardedStatelessly),
            ("herald_responses_dropped_total", "Responses that were not for the gateway", .responsesDropped),
            ("herald_requests_refused_total", "Requests refused for breaking a rule", .requestsRefused),
            ("herald_strangers_refused_total", "Requests of strangers answered 403", .strangersRefused),
            ("herald_scanners_dropped_total", "Requests of known scanners, never answered", .scannersDropped),
            (
                "herald_strangers_dropped_total",
                "Messages of strangers not answered, by choice or while more came in than could be read",
                .strangersDropped
            ),
            (
                "herald_overload_refused_total", "Requests refused because too many transactions are open",
                .overloadRefused
            ),
            ("herald_calls_shed_total", "Calls refused because more came in than can be carried", .callsShed),
            (
                "herald_registrations_without_path_total",
                "Registrations of a PBX with a carrier without Path, whose calls bypass Herald",
                .registrationsWithoutPath
            ),
            ("herald_loops_found_total", "Requests that came back as they had left, answered 482", .loopsFound),
            ("herald_failovers_total", "Requests sent on to another target after one failed", .failovers),
            ("herald_targets_unavailable_total", "Requests answered 503 because no target is up", .targetsUnavailable),
            ("herald_calls_refused_rate_total", "Calls refused above their trunk's rate", .callsRefusedByRate),
            ("herald_calls_refused_number_total", "Calls refused above their trunk's number", .callsRefusedByNumber),
            (
                "herald_calls_refused_draining_total", "Calls refused because the gateway is stopping",
                .callsRefusedWhileDraining
            ),
            ("herald_options_answered_total", "OPTIONS answered by the gateway", .optionsAnswered),
            ("herald_outbound_calls_total", "Calls from PBXs", .outboundCalls),
            ("herald_logos_trimmed_total", "Branded calls that left without their logo for size", .logosTrimmed),
            ("herald_reasons_trimmed_total", "Branded calls that left with their name only for size", .reasonsTrimmed),
            ("herald_names_trimmed_total", "Calls that left unbranded for size", .namesTrimmed),
        ]
        return drops
            + plain.map { CounterSample(name: $0.0, help: $0.1, value: counters.count($0.2)) }
    }

    private func streamCounters() -> [CounterSample] {
        guard let streams else { return [] }
        return StreamCounters.Event.allCases.map { event in
            CounterSample(
                name: "herald_stream_events_total", help: "What happened on TCP and TLS connections",
                labels: [MetricLabel("event", event.label)], value: streams.count(event))
        }
    }

    private func outcomeCounters() -> [CounterSample] {
        let totals = recorder.totals
        let shed = recorder.shed
        var samples = [
            CounterSample(
                name: "herald_signals_recorded_total", help: "Call signals stored in the ledger",
                value: UInt64(totals.signals)),
            CounterSample(
                name: "herald_signals_shed_total", help: "Call signals lost to a full ring, by kind",
                labels: [MetricLabel("kind", "unbranded")], value: shed.unbranded),
            CounterSample(
                name: "herald_signals_shed_total", help: "Call signals lost to a full ring, by kind",
                labels: [MetricLabel("kind", "branded")], value: shed.branded),
            CounterSample(
                name: "herald_ledger_failures_total", help: "Writes to the ledger that failed and are repeated",
                value: UInt64(totals.failures)),
        ]
        if let counts = link?.sender.counts {
            samples += [("delivered", counts.delivered), ("refused", counts.refused), ("postponed", counts.postponed)]
                .map {
                    CounterSample(
                        name: "herald_events_sent_total", help: "Attempts to send an event, by result",
                        labels: [MetricLabel("result", $0.0)], value: UInt64($0.1))
                }
            samples.append(
                CounterSample(
                    name: "herald_events_not_counted_total", help: "Delivered events the directory did not count",
                    value: UInt64(counts.notCounted)))
        }
        return samples
    }
}

extension ListenerIdentity {
    /// How long its certificate is still good.
    fileprivate func gauge(at now: Int64) -> GaugeSample? {
        guard let standing = identity.standing else { return nil }
        return GaugeSample(
            name: "herald_certificate_expires_seconds",
            help: "Seconds until the certificate of a listen entry expires; negative once it has",
            labels: [MetricLabel("listen", name)], value: Double(standing.secondsLeft(at: now)))
    }
}

extension StreamCounters.Event {
    /// The event as a label's value.
    fileprivate var label: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .connected: "connected"
        case .connectFailed: "connect_failed"
        case .closedIdle: "closed_idle"
        case .closedUnfinished: "closed_unfinished"
        case .closedBroken: "closed_broken"
        case .closedFull: "closed_full"
        case .handshakesFailed: "handshake_failed"
        }
    }
}
