// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import GatewayCluster
import GatewayStore
import Host
import PostgreSQL

/// Metrics and status of the shipper to the shared ledger.
package struct SharedLedgerMetrics: Sendable {
    let sharing: LedgerSharing

    /// - Parameter sharing: the shipper.
    package init(sharing: LedgerSharing) { self.sharing = sharing }

    /// Rows sent and failures.
    var counters: [CounterSample] {
        let standing = sharing.standing
        return [
            CounterSample(
                name: "herald_shared_rows_total", help: "Rows sent to the shared ledger", value: UInt64(standing.rows)),
            CounterSample(
                name: "herald_shared_failures_total",
                help: "Writes to the shared ledger that failed and are repeated", value: UInt64(standing.failures)),
            moved("calls", sharing.handovers.calls), moved("events", sharing.handovers.events),
            CounterSample(
                name: "herald_shared_fenced_total",
                help: "Times that another gateway had taken over while this one was silent",
                value: UInt64(standing.fenced)),
            CounterSample(
                name: "herald_shared_signals_total",
                help: "Call updates that other gateways have stored in the shared ledger, read by this one",
                value: UInt64(standing.signals)),
            CounterSample(
                name: "herald_shared_returns_total",
                help: "Originals and call backs of this gateway that were joined through the shared ledger",
                value: UInt64(standing.returns)),
            CounterSample(
                name: "herald_shared_redials_total",
                help: "Failed calls of this gateway that went on at another one with the carrier's next attempt",
                value: UInt64(sharing.handovers.redials)),
        ]
    }

    private func moved(_ kind: String, _ value: Int) -> CounterSample {
        CounterSample(
            name: "herald_shared_adopted_total",
            help: "Open calls and waiting events taken over from silent gateways, by kind",
            labels: [MetricLabel("kind", kind)], value: UInt64(value))
    }

    /// The lag, and the calls that have moved.
    var gauges: [GaugeSample] {
        let standing = sharing.standing
        return [
            GaugeSample(
                name: "herald_shared_behind_seconds",
                help: "Seconds since the shared ledger had all changes of this gateway", value: standing.behind),
            GaugeSample(
                name: "herald_shared_waiting", help: "Changed rows that the shared ledger has not got yet",
                value: Double(standing.waiting)),
            GaugeSample(
                name: "herald_shared_away_calls", help: "Open calls of this gateway that another one goes on with",
                value: Double(sharing.handovers.away)),
        ] + (standing.replication.map(Self.gauges) ?? [])
    }

    private static func gauges(_ replication: PostgreSQLReplication) -> [GaugeSample] {
        let standbys = [
            ("synchronous", replication.synchronousStandbys), ("asynchronous", replication.otherStandbys),
        ].map { kind, count in
            GaugeSample(
                name: "herald_shared_standbys", help: "Standbys that are attached to the server of the shared ledger",
                labels: [MetricLabel("replication", kind)], value: Double(count))
        }
        let bytes = replication.bytesBehind.map { bytes in
            GaugeSample(
                name: "herald_shared_standby_behind_bytes",
                help: "Bytes that the standby furthest behind has not replayed", value: Double(bytes))
        }
        let seconds = replication.secondsBehind.map { seconds in
            GaugeSample(
                name: "herald_shared_standby_behind_seconds",
                help: "Seconds that the slowest standby needed for the last changes", value: seconds)
        }
        let synchronous = GaugeSample(
            name: "herald_shared_synchronous",
            help: "1 if a standby has every acknowledged change of the shared ledger",
            value: replication.isSynchronous ? 1 : 0)
        return standbys + [bytes, seconds, synchronous].compactMap(\.self)
    }

    var status: GatewayStatus.SharedLedger {
        let standing = sharing.standing
        let handovers = sharing.handovers
        return .init(
            behindSeconds: standing.behind, waiting: standing.waiting, problem: standing.problem,
            server: standing.replication?.summary, serverProblems: standing.replication?.problems,
            adopted: handovers.here, away: handovers.away, ledgerProblem: standing.ledgerProblem)
    }
}
