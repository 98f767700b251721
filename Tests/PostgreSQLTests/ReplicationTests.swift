// SPDX-License-Identifier: Apache-2.0

import HostSystem
import PostgreSQL
import PostgreSQLTesting
import Testing

/// Requirements: an operator sees which standbys a server has, how far they are behind, and what has to be done.
@Suite("Replication of a PostgreSQL server")
struct ReplicationTests {
    /// Reads until a condition holds, for at most 30 seconds.
    private static func replication(
        _ session: PostgreSQLSession, until isSo: (PostgreSQLReplication) -> Bool = { _ in true }
    ) throws -> PostgreSQLReplication {
        let end = SteadyClock.microseconds + 30_000_000
        while true {
            let found = try PostgreSQLReplication.read(session)
            if isSo(found) || SteadyClock.microseconds > end { return found }
            _ = SteadyBell().wait(.milliseconds(50))
        }
    }

    private static func set(_ name: String, _ value: String, _ session: PostgreSQLSession) throws {
        try session.execute("ALTER SYSTEM SET \(name) = '\(value)'")
        try session.execute("SELECT pg_reload_conf()")
    }

    @Test func `a server alone is a primary without a standby, and has nothing to remark`() throws {
        let found = try PostgreSQLReplication.read(ThrowawayServer.session())
        #expect(found.isPrimary && !found.isSynchronous && found.synchronousCommit == "on")
        #expect(found.summary == "primary, no standby")
        #expect(found.remarks.isEmpty && found.secondsBehind == nil)
    }

    @Test func `a role whose commits do not wait for the disk is told so`() throws {
        let session = try ThrowawayServer.session()
        try session.execute("SET synchronous_commit = off")
        let found = try PostgreSQLReplication.read(session)
        #expect(found.problems.isEmpty, "it is a choice")
        #expect(found.remarks.map(\.text).first?.contains("ALTER ROLE herald SET synchronous_commit = on") == true)
    }

    @Test func `standbys are shown with their kind and their lag, and a missing one is a problem`() throws {
        let server = try ThrowawayServer(["--standby"])
        let session = PostgreSQLSession(try server.address())
        var found = try Self.replication(session) { $0.bytesBehind == 0 }
        #expect(found.summary == "primary, asynchronous standby standby (level)")
        #expect(found.synchronousStandbys == 0 && found.otherStandbys == 1 && !found.isSynchronous)
        #expect(found.remarks.map(\.isProblem) == [false])
        #expect(found.remarks.first?.text.contains("set synchronous_standby_names") == true)

        try Self.set("synchronous_standby_names", "*", session)
        found = try Self.replication(session) { $0.isSynchronous }
        #expect(found.isSynchronous && found.synchronousStandbys == 1 && found.remarks.isEmpty)
        #expect(found.summary.hasPrefix("primary, synchronous standby standby ("))

        try server.perform(.stopStandby)
        found = try Self.replication(session) { $0.standbys.isEmpty }
        #expect(found.problems.first?.contains("start the standby, or empty synchronous_standby_names") == true)
        #expect(!found.isSynchronous, "a commit does not return")
    }

    @Test func `a standby that does not replay is behind`() throws {
        let server = try ThrowawayServer(["--standby"])
        let session = PostgreSQLSession(try server.address())
        let standby = PostgreSQLSession(
            try PostgreSQLAddress("postgres://herald@/herald?host=\(server.folder)&port=\((Int(server.port) ?? 0) + 1)")
        )
        try standby.execute("SELECT pg_wal_replay_pause()")
        try session.script("CREATE TABLE filler AS SELECT generate_series(1, 10000) AS number")
        let found = try Self.replication(session) { ($0.bytesBehind ?? 0) > 100_000 }
        #expect(found.summary.contains("kB") && found.summary.contains("behind"))
        #expect(try PostgreSQLReplication.read(standby).summary == "standby")
        #expect(
            try PostgreSQLReplication.read(standby).problems.first?.contains("target_session_attrs=read-write") == true)
    }

    @Test func `a role without rights is told which right shows the standbys`() throws {
        let server = try ThrowawayServer(["--standby"])
        let owner = PostgreSQLSession(try server.address())
        try owner.script("CREATE ROLE \"Gate way\" LOGIN")
        let session = PostgreSQLSession(try server.address(user: "Gate%20way"))
        let found = try PostgreSQLReplication.read(session)
        #expect(found.hidden == 1 && found.standbys.isEmpty && found.otherStandbys == 1)
        #expect(found.summary == "primary, 1 of unknown state")
        #expect(found.remarks.map(\.isProblem) == [false], "\(found.remarks)")
        #expect(found.remarks.first?.text.hasSuffix("GRANT pg_monitor TO \"Gate way\" shows it") == true)
        try owner.script("GRANT pg_monitor TO \"Gate way\"")
        #expect(try Self.replication(session) { $0.hidden == 0 }.standbys.map(\.name) == ["standby"])
    }

    @Test func `a pool counts its sessions, requests that waited, and connections made again`() async throws {
        let server = try ThrowawayServer()
        let pool = PostgreSQLPool(try server.address(), sessions: 1)
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask { _ = try await pool.run { try $0.execute("SELECT pg_sleep(0.05)").count } }
            }
            try await group.waitForAll()
        }
        let load = pool.load
        #expect(load.sessions == 1 && load.inUse == 0 && load.waiting == 0 && load.refused == 0, "\(load)")
        #expect(load.waited == 2 && load.connections == 1, "\(load)")
        try server.perform(.kill)
        try server.perform(.start)
        _ = try await pool.run { try $0.execute("SELECT 1").count }
        #expect(pool.load.connections == 2)
    }
}
