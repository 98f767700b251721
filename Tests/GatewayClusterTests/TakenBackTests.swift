// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Host
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: changes that a failover has taken back are sent again.
///
/// A standby that is behind, and a leader that was
/// frozen and goes on to take writes after another one was elected, lose what they had acknowledged.
@Suite("Changes that a failover took back")
struct TakenBackTests {
    private static func count(_ rows: String, _ session: PostgreSQLSession) throws -> Int64? {
        try session.execute("SELECT count(*) FROM \(rows)").first?.integer(0)
    }

    private static func wait(_ what: String, _ isSo: () throws -> Bool) throws {
        let end = SteadyClock.microseconds + 30_000_000
        while try !isSo() {
            try #require(SteadyClock.microseconds < end, "\(what)")
            _ = SteadyBell().wait(.milliseconds(50))
        }
    }

    @Test func `a standby without the last transactions is promoted: each call and event arrives, once`() throws {
        let server = try ThrowawayServer(["--standby"])
        let ledger = try LocalLedger()
        let log = LogLines()
        let shipper = LedgerShipper(
            PostgreSQLSession(try PostgreSQLAddress(server.clusterURL())), ledger.changes, name: "a", version: "test",
            log: log.logger)
        for id in Int64(1)...10 { try ledger.begin(id) }
        _ = try shipper.ship()
        let primary = PostgreSQLSession(try server.address())
        let standby = PostgreSQLSession(
            try PostgreSQLAddress(
                "postgres://herald@/herald?host=\(server.folder)&port=\((Int(server.port) ?? 0) + 1)"))
        try Self.wait("the standby has no call") { (try? Self.count("ledger.call", standby)) == 10 }
        // It receives nothing more, as behind a network that is cut.
        try standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
        try standby.execute("SELECT pg_reload_conf()")
        try Self.wait("the standby still receives") {
            try Self.count("pg_stat_replication", primary) == 0
        }
        for id in Int64(1)...5 { try ledger.end(id) }
        for id in Int64(11)...20 { try ledger.begin(id) }
        // More rounds than those after which shipped changes were forgotten once.
        for _ in 0..<12 { _ = try shipper.ship() }
        #expect(try Self.count("ledger.call", primary) == 20)
        try server.perform(.kill)
        try server.perform(.promote)
        try Self.wait("nothing is shipped") { (try? shipper.ship().isCaughtUp) == true }
        #expect(try Self.count("ledger.call", standby) == 20)
        #expect(try Self.count("ledger.call WHERE ended_at IS NOT NULL", standby) == 5)
        #expect(try Self.count("ledger.event", standby) == 5)
        #expect(log.all.contains { $0.contains("a failover has taken them back") }, "\(log.all)")
    }

    @Test func `a lost connection alone sends nothing again`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let log = LogLines()
        let shipper = shared.shipper(ledger, log: log)
        try ledger.begin(1)
        _ = try shipper.ship()
        try shared.look.script(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        _ = try? shipper.ship()
        #expect(try shipper.ship().rows == 0)
        #expect(log.all.isEmpty, "\(log.all)")
    }
}
