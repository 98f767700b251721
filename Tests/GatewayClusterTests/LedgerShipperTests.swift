// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: each change of the gateway's own ledger is in the shared ledger exactly once.
@Suite("Shipping to the shared ledger")
struct LedgerShipperTests {
    @Test func `a call, its end, its event and the delivery arrive with all their values`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let shipper = shared.shipper(ledger)
        /// The call of the gateway's own ledger, as the shared ledger has to have it.
        func own() throws -> [LedgerCallRow] {
            var calls = try LedgerReader(ledger.files).calls(limit: 1)
            calls[0].node = "a"
            return calls
        }
        _ = try shipper.ship()
        try ledger.begin(1, customer: "north")
        #expect(try shipper.ship().rows == 1, "the call")
        #expect(try shared.calls() == own())
        try ledger.end(1)
        #expect(try shipper.ship().rows == 2, "the call and its event")
        #expect(try shared.calls() == own())
        try ledger.deliver(1)
        #expect(try shipper.ship() == LedgerShipper.Round(rows: 1, isCaughtUp: true), "the event")
        #expect(try shared.calls() == own())
    }

    @Test(arguments: SharedTable.allCases)
    func `every column of the gateway's own ledger is in the shared one`(_ table: SharedTable) throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        _ = try shared.shipper(ledger).ship()
        let own = try ledger.files.ledger.read { database in
            // The shared ledger has the verdict of a signed call in the call's row.
            let verdict = try table == .call ? database.columns(in: "call_signature").map(\.name) : []
            return try database.columns(in: table.name).map(\.name) + verdict.filter { $0 != "call" }
        }
        let there = try shared.look.execute(
            "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'ledger' AND table_name = $1",
            [.text(table.name)]
        ).map { try $0.text(0) ?? "" }
        #expect(Set(table.columns.map(\.name)) == Set(own))
        #expect(Set(there) == Set(own + ["node", "ledger"]))
    }

    @Test func `the first start ships open calls and waiting events of before`() throws {
        let (ledger, shared) = (try LocalLedger(isShared: false), try SharedDatabase())
        try ledger.begin(1)
        try ledger.begin(2)
        try ledger.end(2)
        #expect(try shared.shipper(ledger.openAgain()).ship().rows == 2)
        #expect(try shared.calls().map(\.row) == [1])
        #expect(try shared.integer("SELECT count(*) FROM ledger.event") == 1)
    }

    @Test func `a row that changed often while PostgreSQL was away waits once`() throws {
        let ledger = try LocalLedger()
        try ledger.begin(1)
        for _ in 0..<20 {
            try ledger.files.ledger.write {
                try $0.execute(sql: "UPDATE call SET progress_at = coalesce(progress_at, 0) + 1")
            }
        }
        #expect(try ledger.recorded() == 1)
    }

    @Test func `ten thousand waiting changes arrive in few transactions`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.files.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at)
                    SELECT i, 'c' || i, i || '@x', 1, 'no_match', i FROM n
                    """)
        }
        let round = try shared.shipper(ledger).ship()
        #expect(round.rows == 12_000)
        #expect(round.isCaughtUp)
        #expect(try shared.integer("SELECT count(*) FROM ledger.call") == 12_000)
    }

    @Test func `a shipper that stops after the commit ships nothing twice and misses nothing`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.begin(1)
        // The commit is done; the changes were not forgotten, as after a kill.
        _ = try shared.shipper(ledger).ship()
        try shared.look.script("DELETE FROM ledger.call")
        #expect(try ledger.recorded() == 1)
        try ledger.begin(2)
        let next = shared.shipper(ledger, kept: .zero)
        #expect(try next.ship().rows == 1)
        #expect(try shared.calls().map(\.row) == [2])
        next.finish()
        #expect(try ledger.recorded() == 0)
    }

    @Test func `a gateway that another one has fenced joins again and goes on`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        try shared.look.script("UPDATE ledger.node SET epoch = epoch + 1, claimed_epoch = epoch + 1")
        try ledger.begin(1)
        let round = try shipper.ship()
        #expect(round.wasFenced)
        #expect(round.rows == 1)
        #expect(try shared.integer("SELECT claimed_epoch FROM ledger.node") == 2)
    }

    @Test func `two gateways have rows of their own under the same numbers`() throws {
        let (first, second, shared) = (try LocalLedger(), try LocalLedger(), try SharedDatabase())
        try first.begin(1, brand: "North", callID: "n")
        try second.begin(1, brand: "South", callID: "s")
        #expect(try shared.shipper(first, "north").ship().rows == 1)
        #expect(try shared.shipper(second, "south").ship().rows == 1)
        #expect(
            try Set(shared.calls().map { "\($0.node ?? "") \($0.brandName ?? "")" }) == ["north North", "south South"])
        #expect(try SharedLedgerReader(shared.address).nodes().map(\.name) == ["north", "south"])
    }

    @Test func `two gateways under one name are refused with a remedy`() throws {
        let (first, second, shared) = (try LocalLedger(), try LocalLedger(), try SharedDatabase())
        _ = try shared.shipper(first).ship()
        let error = #expect(throws: LedgerShipper.NameInUse.self) { () throws in try shared.shipper(second).ship() }
        // Two causes look alike for 15 s: the text has the remedy of both.
        let text = try #require(error?.description)
        #expect(text.contains("if this gateway has a new disk, it goes on by itself"))
        #expect(text.contains("give each its own gateway.id"))
    }

    @Test func `a gateway with a new disk takes over its name, and the old one is refused when it is back`() throws {
        let (old, new, shared) = (try LocalLedger(), try LocalLedger(), try SharedDatabase())
        let returning = shared.shipper(old)
        _ = try returning.ship()
        try shared.look.script("UPDATE ledger.node SET seen_at = now() - interval '16 seconds'")
        try new.begin(1, callID: "new")
        let present = shared.shipper(new)
        #expect(try present.ship().rows == 1)
        try old.begin(1, callID: "old")
        #expect(throws: LedgerShipper.NameInUse.self) { () throws in try returning.ship() }
        #expect(try shared.calls().map(\.callID) == ["new"])
        #expect(try present.ship() == LedgerShipper.Round(rows: 0, isCaughtUp: true), "it is not fenced")
    }

    @Test func `no change is lost if the row of the gateway was deleted`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let shipper = shared.shipper(ledger, kept: .zero)
        // The next round forgets what was shipped.
        for _ in 0..<9 { _ = try shipper.ship() }
        try shared.look.script("DELETE FROM ledger.node")
        try ledger.begin(1)
        #expect(try shipper.ship().isCaughtUp)
        #expect(try shared.calls().map(\.row) == [1])
        #expect(try ledger.recorded() == 0)
    }

    @Test func `a new ledger file of the same gateway does not overwrite the calls of the old one`() throws {
        let (first, second, shared) = (try LocalLedger(), try LocalLedger(), try SharedDatabase())
        try first.begin(1, callID: "old")
        _ = try shared.shipper(first).ship()
        try shared.look.script("UPDATE ledger.node SET seen_at = now() - interval '1 hour'")
        try second.begin(1, callID: "new")
        _ = try shared.shipper(second).ship()
        #expect(try Set(shared.calls().map(\.callID)) == ["old", "new"])
    }

    @Test func `eight gateways that start at once make one schema`() async throws {
        let shared = try SharedDatabase()
        let address = shared.address
        let pool = PostgreSQLPool(address, sessions: 8)
        let ledgers = try (0..<8).map { _ in try LocalLedger() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, ledger) in ledgers.enumerated() {
                group.addTask {
                    try await pool.run { _ in
                        let session = PostgreSQLSession(address)
                        _ = try LedgerShipper(session, ledger.changes, name: "n\(number)", version: "t").ship()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try shared.integer("SELECT count(*) FROM ledger.node") == 8)
    }

    @Test func `a role without the right to make tables ships into a schema that exists`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        _ = try shared.shipper(ledger, "owner").ship()
        let role = "gateway_\(Int.random(in: 0...Int.max))"
        try shared.look.script(
            """
            CREATE ROLE \(role) LOGIN;
            GRANT USAGE ON SCHEMA ledger TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ledger TO \(role);
            """)
        let other = try LocalLedger()
        try other.begin(1)
        let session = PostgreSQLSession(shared.address.setting("user", role))
        #expect(try LedgerShipper(session, other.changes, name: "least", version: "t").ship().rows == 1)
        try shared.look.script("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test func `rows older than the retention are deleted, open calls stay`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        for id in Int64(1)...3 { try ledger.begin(id) }
        try ledger.end(1)
        try ledger.end(3)
        try ledger.deliver(1)
        _ = try shipper.ship()
        try shipper.prune(before: 1_795_823_003, returnsAfter: 0)
        #expect(try shared.calls().map(\.row) == [3, 2])
        #expect(try shared.integer("SELECT count(*) FROM ledger.event") == 1)
    }

    @Test func `a gateway without a shared ledger records no changes`() throws {
        let ledger = try LocalLedger()
        try ledger.begin(1)
        #expect(try ledger.recorded() == 1)
        _ = try ledger.openAgain(isShared: false)
        try ledger.begin(2)
        #expect(try ledger.recorded() == 0)
    }
}
