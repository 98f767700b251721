// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewayCluster

/// Requirements: no telephone number stays in the shared ledger beyond the retention, whichever gateway wrote it, and a
/// deletion of many rows makes no gateway look dead.
@Suite("Retention in the shared ledger")
struct SharedRetentionTests {
    private let shared: SharedDatabase
    private let ledger: LocalLedger
    private let after: Int64 = 1_795_823_100

    init() throws { (shared, ledger) = (try SharedDatabase(), try LocalLedger()) }

    /// Two calls of a gateway: one is open, one has ended with an event that waits.
    private func calls(of name: String, seen: String) throws {
        let other = try LocalLedger()
        try other.begin(1, callID: "open of \(name)")
        try other.begin(2, callID: "ended of \(name)")
        try other.end(2)
        _ = try shared.shipper(other, name).ship()
        try shared.look.execute("UPDATE ledger.node SET seen_at = now() - interval '\(seen)' WHERE name = '\(name)'")
    }

    private func left(_ table: String) throws -> [String] {
        try shared.look.execute(
            "SELECT coalesce(node.name, 'nobody') FROM ledger.\(table) AS row LEFT JOIN ledger.node ON node.id = row.node ORDER BY 1"
        ).map { try $0.text(0) ?? "" }
    }

    @Test func `rows of gateways that are gone are deleted, those of living ones stay`() throws {
        try calls(of: "gone", seen: "2 days")
        try calls(of: "living", seen: "2 hours")
        try calls(of: "without a node", seen: "0")
        try shared.look.script("DELETE FROM ledger.node WHERE name = 'without a node'")
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        #expect(try shipper.prune(before: after, returnsAfter: 0))
        #expect(try left("call") == ["living", "living"])
        #expect(try left("event") == ["living"])
    }

    @Test func `so are open calls of an earlier ledger file of this gateway`() throws {
        try calls(of: "a", seen: "1 hour")
        try ledger.begin(1, callID: "present")
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        try shipper.prune(before: after, returnsAfter: 0)
        #expect(try shared.calls().map(\.callID) == ["present"], "an open call of the present file stays")
        #expect(try left("event").isEmpty)
    }

    @Test func `a long deletion goes on in parts, with signs of life between`() throws {
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        try shared.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, decision, invite_at, ended_at)
            SELECT node.id, ledger, i, 'c' || i, 1, 'no_match', i, i FROM generate_series(1, 12000) AS i, ledger.node
            """)
        var parts = 1
        while try !shipper.prune(before: after, returnsAfter: 0, while: { false }) {
            parts += 1
            try #require(parts < 100)
            try shared.look.script("UPDATE ledger.node SET seen_at = now() - interval '1 minute'")
            _ = try shipper.ship()
            #expect(try shared.integer("SELECT count(*) FROM ledger.node WHERE seen_at > now() - interval '15 s'") == 1)
        }
        #expect(parts > 6, "no part is long")
        #expect(try shared.integer("SELECT count(*) FROM ledger.call") == 0)
    }

    @Test func `the first deletion comes soon after the start, by the clock of the server`() async throws {
        _ = try shared.shipper(ledger).ship()
        try shared.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, decision, invite_at, ended_at)
            SELECT node.id, ledger, i, 'c' || i, 1, 'no_match',
                (extract(epoch FROM now()) * 1000000)::bigint - i * 86400000000, 1
            FROM (VALUES (29), (31)) AS age (i), ledger.node
            """)
        let time = Atomic<Int64>(0)
        let sharing = LedgerSharing(
            .init(address: shared.address, name: "a", version: "test", retentionDays: 30), ledger.changes,
            log: LogLines().logger,
            // Each look at the clock takes a second; the clock of the gateway is a year ahead.
            steady: { time.add(1_000_000, ordering: .relaxed).newValue }, wall: { 1_900_000_000_000_000 },
            pause: .milliseconds(10))
        let running = Task { await sharing.run() }
        for _ in 0..<1_000 where try shared.integer("SELECT count(*) FROM ledger.call") != 1 {
            try await Task.sleep(for: .milliseconds(10))
        }
        running.cancel()
        await running.value
        #expect(try shared.integer("SELECT id FROM ledger.call") == 29)
    }
}
