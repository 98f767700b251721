// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayCluster
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

/// Figures of `docs/shared-ledger.md`; only with `HERALD_SHARED_CALLS`, the number of calls.
@Suite("Figures of the shared ledger")
struct ShippingFigures {
    private static let calls = ProcessInfo.processInfo.environment["HERALD_SHARED_CALLS"].flatMap { Int64($0) }

    @Test(.enabled(if: calls != nil, "set HERALD_SHARED_CALLS"), arguments: [Int64(500), 2_000])
    func `CPU of the server for a call that begins, ends and has an event`(batch: Int64) throws {
        let calls = try #require(Self.calls)
        let (ledger, server) = (try LocalLedger(), try ThrowawayServer(["--durable"]))
        let shipper = LedgerShipper(
            PostgreSQLSession(try server.address()), ledger.changes, name: "figures", version: "test")
        _ = try shipper.ship()
        let (before, started) = (try Self.processorTime(server), ContinuousClock.now)
        var shipping = Duration.zero
        for first in stride(from: Int64(1), through: calls, by: Int64.Stride(batch)) {
            let numbers = first...min(first + batch - 1, calls)
            // Begin and end are two transactions, as with calls longer than a second.
            try Self.begin(numbers, ledger)
            shipping += try ContinuousClock().measure { _ = try shipper.ship() }
            try Self.end(numbers, ledger)
            shipping += try ContinuousClock().measure { _ = try shipper.ship() }
        }
        let used = try Self.processorTime(server) - before
        let size = try PostgreSQLSession(server.address()).execute(
            "SELECT pg_total_relation_size('ledger.call') + pg_total_relation_size('ledger.event')"
        ).first?.integer(0)
        print(
            """
            figures: \(calls) calls, \(batch) a transaction: server \(Int(used * 1e6 / Double(calls))) µs of CPU a call, \
            \(Int(Double(calls) / (shipping / .seconds(1)))) calls/s while shipping, \((size ?? 0) / calls) bytes a call, \
            \(ContinuousClock.now - started) in all
            """)
        #expect(
            try PostgreSQLSession(server.address()).execute("SELECT count(*) FROM ledger.call").first?.integer(0)
                == calls)
    }

    private static func begin(_ numbers: ClosedRange<Int64>, _ ledger: LocalLedger) throws {
        try ledger.files.ledger.write { database in
            for id in numbers {
                try database.execute(
                    sql: """
                        INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber,
                            brand_id, brand_name, decision, invite_at, ringing_at)
                        VALUES (?, lower(hex(randomblob(16))), lower(hex(randomblob(16))) || '@carrier.example', 1, 'carrier',
                            ? % 100000 + 493012300000, 61255501001, '1001', 'brand-17', 'Acme Plumbing', 'matched', ?, ?)
                        """,
                    arguments: [id, id, 1_795_823_000_000_000 + id * 2_000, 1_795_823_000_100_000 + id * 2_000])
            }
        }
    }

    private static func end(_ numbers: ClosedRange<Int64>, _ ledger: LocalLedger) throws {
        try ledger.files.ledger.write { database in
            try database.execute(
                sql: """
                    UPDATE call SET answered_at = invite_at + 5000000, ended_at = invite_at + 65000000, outcome = 'ANSWERED',
                        call_seconds = 60, ring_seconds = 5, status = 200, end_event = id WHERE id BETWEEN ? AND ?
                    """, arguments: [numbers.lowerBound, numbers.upperBound])
            try database.execute(
                sql: """
                    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
                    SELECT id, 'ANSWERED:' || call_id, '+' || caller, 'pbx', '2026-11-28T00:00:00Z',
                        '{"ring_seconds": 5, "call_seconds": 60, "trunk": "carrier", "attestation": "A"}', 1795823000, 1795823000
                    FROM call WHERE id BETWEEN ? AND ?
                    """, arguments: [numbers.lowerBound, numbers.upperBound])
        }
    }

    /// Seconds of CPU of all processes of a server.
    private static func processorTime(_ server: ThrowawayServer) throws -> Double {
        let rows = try PostgreSQLSession(server.address()).execute(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        return try rows.reduce(0) { sum, row in
            let stat = try String(contentsOfFile: "/proc/\(row.integer(0) ?? 0)/stat", encoding: .utf8)
            // Fields 14 and 15 are user and system time, counted after the name in parentheses.
            let fields = (stat.split(separator: ")").last ?? "").split(separator: " ")
            return sum + (Double(fields[11]) ?? 0) / 100 + (Double(fields[12]) ?? 0) / 100
        }
    }
}
