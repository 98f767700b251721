// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import Host
import Synchronization

/// Counts ended calls by trunk, decision and outcome, and the time that they rang.
///
/// Any thread, never on the call path: the recorder hands calls over once they are stored. Trunks are the configured
/// ones, and decisions and outcomes are enumerations, so callers cannot make series.
package final class EndedCallCounts: Sendable {
    private struct Kind: Hashable {
        let trunk: String
        let decision: String
        let outcome: CallOutcome

        var order: (String, String, String) { (trunk, decision, outcome.rawValue) }
    }

    private let counts = Mutex<[Kind: UInt64]>([:])
    private let ringing: [CallOutcome: DurationHistogram]

    package init() {
        ringing = CallOutcome.allCases.reduce(into: [:]) { $0[$1] = DurationHistogram(.ringing) }
    }

    /// Counts calls that have ended.
    package func add(_ calls: [CallRecord]) {
        counts.withLock { counts in
            for call in calls {
                guard let outcome = call.outcome else { continue }
                let kind = Kind(trunk: call.trunk ?? "", decision: call.decision, outcome: outcome)
                counts[kind, default: 0] += 1
                addRinging(of: call)
            }
        }
    }

    private func addRinging(of call: CallRecord) {
        guard let outcome = call.outcome, let until = call.answeredAt ?? (call.endIsKnown ? call.endedAt : nil) else {
            return
        }
        ringing[outcome]?.record(.microseconds(until - call.inviteAt))
    }

    var counters: [CounterSample] {
        counts.withLock { $0 }.sorted { $0.key.order < $1.key.order }.map { kind, count in
            CounterSample(
                name: "herald_calls_ended_total", help: "Ended calls by trunk, branding decision and outcome",
                labels: [
                    MetricLabel("trunk", kind.trunk), MetricLabel("decision", kind.decision),
                    MetricLabel("outcome", kind.outcome.rawValue),
                ], value: count)
        }
    }

    var histograms: [HistogramSample] {
        CallOutcome.allCases.compactMap { outcome in
            guard let histogram = ringing[outcome] else { return nil }
            return HistogramSample(
                name: "herald_ring_seconds",
                help: "Seconds from the INVITE to the 2xx, or to the end without one, by outcome",
                labels: [MetricLabel("outcome", outcome.rawValue)], value: histogram.distribution)
        }
    }
}
