// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

/// Counts what the server did since its start, for its metrics; any thread.
///
/// Every label has a fixed set of values. A term of a client that the contract does not name counts as `other`.
final class ServerCounters: Sendable {
    /// The kind of a sync response.
    enum SyncResponse: String, CaseIterable { case full, delta, unchanged }

    /// The gate that refused a key.
    enum Gate: String, CaseIterable { case contract, admin }

    private struct State {
        var events: [String: UInt64] = [:]
        var uncounted: [String: UInt64] = [:]
        var syncs: [SyncResponse: UInt64] = [:]
        var refusedKeys: [Gate: UInt64] = [:]
        var refusedConnections: UInt64 = 0
        var connections = 0
        var lostWrites: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The outcomes of the contract (securenode-endpoint-contract §7).
    private static let outcomes: Set<String> = [
        "displayed", "call_seen", "missed", "returned", "branding_disabled", "error", "no_match",
    ]

    /// Counts an accepted event.
    func addEvent(_ outcome: String?, isCounted: Bool?) {
        let type = outcome.map { Self.outcomes.contains($0) ? $0 : "other" } ?? "other"
        state.withLock { state in
            if isCounted == true {
                state.events[type, default: 0] += 1
            } else {
                state.uncounted[type, default: 0] += 1
            }
        }
    }

    /// Counts a sync response.
    func add(_ response: SyncResponse) { state.withLock { $0.syncs[response, default: 0] += 1 } }

    /// Counts a request whose key or token was refused.
    func addRefusedKey(at gate: Gate) { state.withLock { $0.refusedKeys[gate, default: 0] += 1 } }

    func addRefusedConnection() { state.withLock { $0.refusedConnections += 1 } }

    /// Counts a best-effort write that failed.
    func addLostWrite() { state.withLock { $0.lostWrites += 1 } }

    /// Changes the number of open connections.
    func addConnections(_ difference: Int) { state.withLock { $0.connections += difference } }

    /// Open connections of all listening addresses.
    var connections: Int { state.withLock { $0.connections } }

    /// The counts as series.
    var samples: [CounterSample] {
        let state = state.withLock { $0 }
        return events(state)
            + SyncResponse.allCases.map { response in
                CounterSample(
                    name: "herald_directory_syncs_total", help: "Sync responses: full, delta, or unchanged (304)",
                    labels: [MetricLabel("response", response.rawValue)], value: state.syncs[response] ?? 0)
            }
            + Gate.allCases.map { gate in
                CounterSample(
                    name: "herald_directory_refused_keys_total",
                    help: "Requests refused for their key or token, by gate",
                    labels: [MetricLabel("gate", gate.rawValue)], value: state.refusedKeys[gate] ?? 0)
            }
            + [
                CounterSample(
                    name: "herald_directory_connections_refused_total",
                    help: "Connections closed above connections or connections_per_client",
                    value: state.refusedConnections),
                CounterSample(
                    name: "herald_directory_writes_lost_total",
                    help: "Counts and log lines that could not be stored; their responses were sent",
                    value: state.lostWrites),
            ]
    }

    private func events(_ state: State) -> [CounterSample] {
        (Self.outcomes.sorted() + ["other"]).flatMap { type in
            [("true", state.events), ("false", state.uncounted)].map { isCounted, counts in
                CounterSample(
                    name: "herald_directory_events_total", help: "Accepted events by type, repetitions included",
                    labels: [MetricLabel("type", type), MetricLabel("counted", isCounted)], value: counts[type] ?? 0)
            }
        }
    }
}
