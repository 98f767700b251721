// SPDX-License-Identifier: Apache-2.0

import Host
import PostgreSQL

/// The series of a directory on a PostgreSQL server.
enum DatabaseGauges {
    /// Sessions and requests of this moment.
    static func sessions(_ load: PostgreSQLPool.Load) -> [GaugeSample] {
        let sessions = [("busy", load.inUse), ("idle", load.sessions - load.inUse)].map { state, count in
            GaugeSample(
                name: "herald_directory_sessions", help: "Sessions with the database server for requests, by state",
                labels: [MetricLabel("state", state)], value: Double(count))
        }
        return sessions + [
            GaugeSample(
                name: "herald_directory_session_requests_waiting", help: "Requests that wait for a session",
                value: Double(load.waiting))
        ]
    }

    /// Connections, waits and refusals since the start.
    static func sessionCounts(_ load: PostgreSQLPool.Load) -> [CounterSample] {
        [
            CounterSample(
                name: "herald_directory_session_connects_total",
                help: "Connections made to the database server for requests; a growing number means losses",
                value: UInt64(load.connections)),
            CounterSample(
                name: "herald_directory_session_waits_total", help: "Requests that had to wait for a session",
                value: UInt64(load.waited)),
            CounterSample(
                name: "herald_directory_session_refusals_total",
                help: "Requests that failed because too many waited for a session", value: UInt64(load.refused)),
        ]
    }

    /// The standbys of the server.
    static func standbys(_ replication: PostgreSQLReplication) -> [GaugeSample] {
        var gauges = [
            ("synchronous", replication.synchronousStandbys), ("asynchronous", replication.otherStandbys),
        ].map { kind, count in
            GaugeSample(
                name: "herald_directory_standbys", help: "Standbys that are attached to the database server",
                labels: [MetricLabel("replication", kind)], value: Double(count))
        }
        gauges.append(
            GaugeSample(
                name: "herald_directory_synchronous", help: "1 if a standby has every acknowledged write",
                value: replication.isSynchronous ? 1 : 0))
        if let bytes = replication.bytesBehind {
            gauges.append(
                GaugeSample(
                    name: "herald_directory_standby_behind_bytes",
                    help: "Bytes that the standby furthest behind has not replayed", value: Double(bytes)))
        }
        if let seconds = replication.secondsBehind {
            gauges.append(
                GaugeSample(
                    name: "herald_directory_standby_behind_seconds",
                    help: "Seconds that the slowest standby needed for the last changes", value: seconds))
        }
        return gauges
    }
}
