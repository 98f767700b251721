// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Host
import Synchronization

/// Counts attempts at push services since the start of the server, for its metrics; any thread.
final class PushCounters: Sendable {
    private struct Attempt: Hashable {
        let platform: PushPlatform
        let result: String
    }

    private struct State {
        var attempts: [Attempt: UInt64] = [:]
        var removed: UInt64 = 0
        var waiting = 0
    }

    private static let results = ["delivered", "unregistered", "service_unavailable", "refused", "too_large"]
    private let state = Mutex(State())

    func add(_ outcome: PushOutcome, on platform: PushPlatform) {
        state.withLock { $0.attempts[Attempt(platform: platform, result: outcome.label), default: 0] += 1 }
    }

    func addRemovedDevice() { state.withLock { $0.removed += 1 } }

    /// Deliveries that wait, as the service has counted them last.
    func setWaiting(_ count: Int) { state.withLock { $0.waiting = count } }

    /// Attempts by their result, of all platforms.
    func attempts(_ result: String) -> UInt64 {
        state.withLock { state in
            state.attempts.reduce(0) { $1.key.result == result ? $0 + $1.value : $0 }
        }
    }

    var counters: [CounterSample] {
        let state = state.withLock { $0 }
        let attempts = PushPlatform.allCases.flatMap { platform in
            Self.results.map { result in
                CounterSample(
                    name: "herald_directory_push_attempts_total",
                    help: "Messages sent to push services, by platform and result",
                    labels: [MetricLabel("platform", platform.rawValue), MetricLabel("result", result)],
                    value: state.attempts[Attempt(platform: platform, result: result)] ?? 0)
            }
        }
        return attempts + [
            CounterSample(
                name: "herald_directory_push_devices_removed_total",
                help: "Devices removed because their push service does not know them any more", value: state.removed)
        ]
    }

    var gauges: [GaugeSample] {
        [
            GaugeSample(
                name: "herald_directory_push_waiting", help: "Push messages that wait for a push service",
                value: Double(state.withLock { $0.waiting }))
        ]
    }
}
