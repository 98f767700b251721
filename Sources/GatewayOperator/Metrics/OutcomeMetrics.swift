// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import GatewaySync
import Host

// Metrics of recorded calls and of events for the directory.

extension GatewayStatusReport {
    /// Call updates stored and lost, failed writes, and event deliveries.
    func outcomeCounters() -> [CounterSample] {
        let totals = recorder.totals
        let shed = recorder.shed
        let samples = [
            CounterSample(
                name: "herald_signals_recorded_total", help: "Call updates stored in the ledger",
                value: UInt64(totals.updates)),
            CounterSample(
                name: "herald_signals_shed_total", help: "Call updates lost to a full ring, by kind",
                labels: [MetricLabel("kind", "unbranded")], value: shed.unbranded),
            CounterSample(
                name: "herald_signals_shed_total", help: "Call updates lost to a full ring, by kind",
                labels: [MetricLabel("kind", "branded")], value: shed.branded),
            CounterSample(
                name: "herald_ledger_failures_total", help: "Writes to the ledger that failed and are repeated",
                value: UInt64(totals.failures)),
        ]
        return samples + deliveryCounters()
    }

    private func deliveryCounters() -> [CounterSample] {
        guard let counts = directory?.senders[nil]?.counts else { return [] }
        let results = [("delivered", counts.delivered), ("refused", counts.refused), ("postponed", counts.postponed)]
        return results.map { result, count in
            CounterSample(
                name: "herald_events_sent_total", help: "Attempts to send an event, by result",
                labels: [MetricLabel("result", result)], value: UInt64(count))
        }
            + EventCounts.reasons.map { reason in
                CounterSample(
                    name: "herald_events_not_counted_total",
                    help: "Delivered events the directory did not count, by reason",
                    labels: [MetricLabel("reason", reason)], value: UInt64(counts.notCountedByReason[reason] ?? 0))
            }
    }

    /// Open calls, the state of the ledger and the recorder, and the events in the outbox.
    func outcomeGauges() -> [GaugeSample] {
        let totals = recorder.totals
        let gauges = [
            GaugeSample(
                name: "herald_open_calls", help: "Calls whose end is not known yet", value: Double(totals.openCalls)),
            GaugeSample(
                name: "herald_ledger_refuses", help: "1 while outcomes cannot be stored, such as on a full disk",
                value: totals.problem == nil ? 0 : 1),
            GaugeSample(
                name: "herald_recorder_age_seconds", help: "Seconds since the recorder finished a round",
                value: recorder.age / .seconds(1)),
        ]
        guard let backlog = try? reader.backlog() else { return gauges }
        return gauges + [
            GaugeSample(
                name: "herald_events_waiting", help: "Events that the directory has not accepted yet",
                value: Double(backlog.waiting)),
            GaugeSample(
                name: "herald_events_refused", help: "Events the directory refused, kept for the operator",
                value: Double(backlog.refused)),
        ]
    }
}
