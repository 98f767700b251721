// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host
import Synchronization

/// The alarms of the last reading, for the page, the metrics and the log; any thread.
package final class AlarmStanding: Sendable {
    private struct State {
        var alarms: [SpoofingAlarm] = []
        var today: Int64 = 0
        var readAt: Int64?
        var problem: String?
        var sent: UInt64 = 0
        var failed: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The alarms of today and yesterday.
    var alarms: [SpoofingAlarm] { state.withLock { $0.alarms } }
    /// Seconds since 1970; nil before the first reading.
    var readAt: Int64? { state.withLock { $0.readAt } }
    /// The reason why the last reading or digest failed; nil for none.
    var problem: String? { state.withLock { $0.problem } }

    /// Takes a reading.
    ///
    /// - Parameter now: seconds since 1970.
    func read(_ alarms: [SpoofingAlarm], at now: Int64) {
        state.withLock { ($0.alarms, $0.today, $0.readAt, $0.problem) = (alarms, now / 86_400, now, nil) }
    }

    func add(problem: String) { state.withLock { $0.problem = problem } }

    /// Counts a digest that the webhook took, or did not take.
    func count(sent isSent: Bool) {
        state.withLock { state in
            if isSent { state.sent += 1 } else { state.failed += 1 }
        }
    }

    /// Digests of the webhook since the start.
    var counters: [CounterSample] {
        let state = state.withLock { $0 }
        return [("sent", state.sent), ("failed", state.failed)].map { result, count in
            CounterSample(
                name: "herald_spoofing_digests_total", help: "Digests of spoofed numbers for the webhook by result",
                labels: [MetricLabel("result", result)], value: count)
        }
    }

    /// Today's alarms by kind; brands and numbers are no labels.
    var gauges: [GaugeSample] {
        let state = state.withLock { $0 }
        return SpoofingAlarm.Kind.allCases.map { kind in
            let count = state.alarms.count { $0.kind == kind && $0.day == state.today }
            return GaugeSample(
                name: "herald_spoofing_alarms", help: "Brands whose numbers arrive in an unusual way today, by kind",
                labels: [MetricLabel("kind", kind.rawValue)], value: Double(count))
        }
    }
}
