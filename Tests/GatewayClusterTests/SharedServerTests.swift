// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Host
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: a failover to a synchronous standby loses and doubles nothing, and standbys are visible.
@Suite("The server of the shared ledger and its standby")
struct SharedServerTests {
    private static func wait(_ what: String, _ isSo: () throws -> Bool) throws {
        let end = SteadyClock.microseconds + 30_000_000
        while try !isSo() {
            try #require(SteadyClock.microseconds < end, "\(what)")
            _ = SteadyBell().wait(.milliseconds(50))
        }
    }

    /// Makes the standby synchronous.
    private static func synchronize(_ server: ThrowawayServer) throws {
        let session = PostgreSQLSession(try server.address())
        try session.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try session.execute("SELECT pg_reload_conf()")
        try wait("the standby is not synchronous") { try PostgreSQLReplication.read(session).isSynchronous }
    }

    @Test func `the primary dies under writes: the standby goes on, with each call once`() throws {
        let server = try ThrowawayServer(["--standby"])
        try Self.synchronize(server)
        let address = try PostgreSQLAddress(server.clusterURL())
        let ledger = try LocalLedger()
        let shipper = LedgerShipper(PostgreSQLSession(address), ledger.changes, name: "a", version: "test")
        for id in 1...40 {
            try ledger.begin(Int64(id))
            if id % 2 == 0 { try ledger.end(Int64(id)) }
            if id == 20 { try server.perform(.kill) }
            _ = try? shipper.ship()
        }
        try server.perform(.promote)
        try Self.wait("nothing is shipped") { (try? shipper.ship().isCaughtUp) == true }
        let session = PostgreSQLSession(address)
        #expect(try session.execute("SELECT count(*) FROM ledger.call").first?.integer(0) == 40)
        #expect(try session.execute("SELECT count(DISTINCT call_id) FROM ledger.call").first?.integer(0) == 40)
        #expect(
            try session.execute("SELECT count(*) FROM ledger.call WHERE ended_at IS NOT NULL").first?.integer(0) == 20)
        #expect(try session.execute("SELECT count(*) FROM ledger.event").first?.integer(0) == 20)
    }

    @Test func `a missing synchronous standby shows while writes wait for it`() throws {
        let server = try ThrowawayServer(["--standby"])
        let address = try PostgreSQLAddress(server.clusterURL())
        let ledger = try LocalLedger()
        let sharing = LedgerSharing(
            .init(address: address, name: "a", version: "test", retentionDays: 1), ledger.changes)
        let shipper = sharing.makeShipper()
        _ = try sharing.look(shipper, nil)
        sharing.observe(shipper)
        #expect(sharing.standing.replication?.problems == [])
        try Self.synchronize(server)
        try server.perform(.stopStandby)
        try Self.wait("the standby is still attached") {
            sharing.observe(shipper)
            return sharing.standing.replication?.problems.first?.contains("no synchronous standby is attached") == true
        }
        try ledger.begin(1)
        shipper.timeLimit = .seconds(1)
        let error = #expect(throws: PostgreSQLError.self) { _ = try shipper.ship() }
        #expect(error?.cause == .timedOut)
        try server.perform(.startStandby)
        shipper.timeLimit = .seconds(20)
        try Self.wait("nothing is shipped") { (try? shipper.ship().isCaughtUp) == true }
        #expect(
            try PostgreSQLSession(address).execute("SELECT count(*) FROM ledger.call").first?.integer(0) == 1)
    }
}
