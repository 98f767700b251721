// SPDX-License-Identifier: Apache-2.0

package import Host
import Synchronization

/// Counts fetches and responses of logos since the start; any thread, never on the call path.
package final class LogoTraffic: Sendable {
    private struct State {
        var fetches: [String: UInt64] = [:]
        var responses: [Int: UInt64] = [:]
        var bytesServed: UInt64 = 0
        var used: Set<String> = []
    }

    private let state = Mutex(State())

    private let total: LogoTraffic?

    /// - Parameter total: counts the fetches and responses of this account too.
    package init(partOf total: LogoTraffic? = nil) { self.total = total }

    /// Counts a fetch by its result: `fetched`, `unchanged`, or the reason of its failure.
    package func countFetch(_ result: String) {
        total?.countFetch(result)
        state.withLock { $0.fetches[result, default: 0] += 1 }
    }

    /// Counts a response to a phone; `name` is the file that was sent, nil for none.
    package func countResponse(_ status: Int, file name: String? = nil, bytes: Int = 0) {
        total?.countResponse(status, bytes: bytes)
        state.withLock { state in
            state.responses[status, default: 0] += 1
            state.bytesServed += UInt64(bytes)
            if let name { state.used.insert(name) }
        }
    }

    /// The files that phones requested since the last call.
    package func takeUsed() -> [String] {
        state.withLock { state in
            defer { state.used = [] }
            return Array(state.used)
        }
    }

    /// Files sent to phones, 304 included.
    package var served: UInt64 { state.withLock { ($0.responses[200] ?? 0) + ($0.responses[304] ?? 0) } }

    /// The counts as series for Prometheus.
    package var samples: [CounterSample] {
        let (fetches, responses, bytes) = state.withLock { ($0.fetches, $0.responses, $0.bytesServed) }
        return fetches.sorted { $0.key < $1.key }.map { result, count in
            CounterSample(
                name: "herald_logo_fetches_total", help: "Logo fetches, by result",
                labels: [MetricLabel("result", result)], value: count)
        }
            + responses.sorted { $0.key < $1.key }.map { status, count in
                CounterSample(
                    name: "herald_logo_requests_total", help: "Requests of phones at the logo port, by status",
                    labels: [MetricLabel("status", "\(status)")], value: count)
            }
            + [
                CounterSample(
                    name: "herald_logo_bytes_served_total", help: "Bytes that the logo port sent to phones",
                    value: bytes)
            ]
    }
}
