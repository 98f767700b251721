// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayCluster
import GatewayStore
import HostSystem
import Logging
import MetricsPage
import NIOCore
import SIPCore
import ServiceLifecycle

/// The exchange with sibling gateways, in a gateway with a `cluster` section.
struct ClusterServices: ReloadablePart {
    let exchange: SiblingExchange
    private let recorder: OutcomeRecorder

    /// Connects the recorder to the exchange; nil for a gateway that is alone.
    ///
    /// - Throws: for an address that the system does not read.
    init?(_ configuration: HeraldConfiguration, _ recorder: OutcomeRecorder, _ calls: CallsInProgress) throws {
        guard let cluster = configuration.cluster else { return nil }
        self.recorder = recorder
        exchange = SiblingExchange(
            listen: try SocketAddress(ipAddress: cluster.listen.host, port: Int(cluster.listen.port)),
            settings: try cluster.siblingSettings(), ledger: ClusterLedger(recorder: recorder, calls: calls),
            logger: Logger(label: "herald.cluster"), now: { .current })
        recorder.onUpdates { [exchange] in exchange.append($0) }
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        guard let settings = try next.cluster?.siblingSettings() else { return nil }
        return { [exchange] in exchange.use(settings) }
    }

    /// Updates exchanged with each sibling.
    var counters: [CounterSample] {
        let each = exchange.standings.flatMap { sibling in
            func sample(_ result: String, _ value: UInt64) -> CounterSample {
                CounterSample(
                    name: "herald_sibling_updates_total",
                    help: "Call updates exchanged with sibling gateways, by sibling and result",
                    labels: [MetricLabel("sibling", sibling.address), MetricLabel("result", result)], value: value)
            }
            return [
                sample("sent", sibling.counts.sent), sample("received", sibling.counts.received),
                sample("dropped", sibling.counts.dropped), sample("dropped_own", sibling.counts.droppedOwn),
                sample("unknown", sibling.counts.unknown),
                CounterSample(
                    name: "herald_sibling_rejected_total",
                    help: "Datagrams of sibling addresses with a wrong seal, of an earlier run or repeated, by sibling",
                    labels: [MetricLabel("sibling", sibling.address)], value: sibling.counts.rejected),
            ]
        }
        return each + [
            CounterSample(
                name: "herald_sibling_updates_applied_total",
                help: "Call updates of sibling gateways that belonged to an open call of this one",
                value: UInt64(recorder.appliedForeign)),
            CounterSample(
                name: "herald_sibling_calls_corrected_total",
                help: "Ended calls of this gateway that a late report of a sibling gateway has corrected",
                value: UInt64(recorder.totals.corrected)),
        ]
    }

    /// The state of each sibling.
    var gauges: [GaugeSample] {
        exchange.standings.flatMap { sibling in
            let labels = [MetricLabel("sibling", sibling.address)]
            var gauges = [
                GaugeSample(
                    name: "herald_sibling_up", help: "1 while a sibling gateway responds with the same secret",
                    labels: labels, value: sibling.state == .reachable ? 1 : 0),
                GaugeSample(
                    name: "herald_sibling_waiting", help: "Call updates that a sibling gateway has not stored yet",
                    labels: labels, value: Double(sibling.waiting)),
            ]
            if let offset = sibling.clockOffset {
                gauges.append(
                    GaugeSample(
                        name: "herald_sibling_clock_offset_seconds",
                        help: "The clock of a sibling gateway less that of this one", labels: labels,
                        value: Double(offset) / 1_000_000))
            }
            return gauges
        }
    }

    /// The state of each sibling for the status.
    var status: [GatewayStatus.Sibling] {
        exchange.standings.map { sibling in
            GatewayStatus.Sibling(
                address: sibling.address, state: sibling.state.rawValue,
                clockOffset: sibling.clockOffset.map { Double($0) / 1_000_000 }, waiting: sibling.waiting,
                dropped: sibling.counts.dropped)
        }
    }
}

/// The ledger and the table of calls in progress, as siblings change them.
struct ClusterLedger: SiblingLedger {
    let recorder: OutcomeRecorder
    let calls: CallsInProgress
    /// Whether responses count; late ones may be of an earlier attempt.
    var isPrompt = true

    var storedBatch: UInt64 { recorder.storedBatch }

    func take(_ updates: [ForeignUpdate]) -> UInt64? {
        calls.leave(
            updates.map(\.update).flatMap { update in
                message(of: update).map { message in
                    update.calls.map { .init(message, of: $0, at: update.wallMicroseconds) }
                } ?? []
            })
        return recorder.take(updates)
    }

    /// The message of a call in progress that an update reports; nil for one that changes nothing.
    private func message(of update: CallUpdate) -> CallsInProgress.SiblingReport.Message? {
        switch update.kind {
        case .bye: .bye
        case .provisional: isPrompt ? .alerting : nil
        case .answered: isPrompt ? .answered : nil
        case .failed: isPrompt && !CallStateMachine.asksForRetry(update.status) ? .rejected : nil
        default: nil
        }
    }
}

extension SiblingLink.Now {
    /// The time of the system's clocks.
    static var current: SiblingLink.Now {
        SiblingLink.Now(microseconds: SteadyClock.microseconds, wallMicroseconds: ClockStepDetector.wall())
    }
}
