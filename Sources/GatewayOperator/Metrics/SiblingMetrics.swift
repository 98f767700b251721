// SPDX-License-Identifier: Apache-2.0

package import GatewayCluster
package import GatewayStore
import Host

/// Metrics and status of the exchange with sibling gateways.
package struct SiblingMetrics: Sendable {
    let exchange: SiblingExchange
    let recorder: OutcomeRecorder

    /// - Parameter recorder: takes the updates of siblings.
    package init(exchange: SiblingExchange, recorder: OutcomeRecorder) {
        (self.exchange, self.recorder) = (exchange, recorder)
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
                value: UInt64(recorder.cluster.appliedForeign)),
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
