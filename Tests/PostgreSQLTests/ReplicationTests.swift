// SPDX-License-Identifier: Apache-2.0

import Host
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
        #expect(found.summary == "primary, no standby")
        #expect(found.remarks.isEmpty)
        #expect(found.synchronousCommit == "on")
        #expect(!found.isSynchronous)
        #expect(found.secondsBehind == nil)
    }

    @Test func `a role whose commits do not wait for the disk is told so`() throws {
        let session = try ThrowawayServer.session()
        try session.execute("SET synchronous_commit = off")
        let found = try PostgreSQLReplication.read(session)
        #expect(found.problems.isEmpty, "it is a choice")
        #expect(found.remarks.map(\.text).first?.contains("ALTER ROLE herald SET synchronous_commit = on") == true)
    }

    @Test func `an asynchronous standby is shown, with a remark on what may be lost and no problem`() throws {
        let server = try ThrowawayServer(["--standby"])
        let found = try Self.replication(PostgreSQLSession(try server.address())) { $0.bytesBehind == 0 }
        #expect(found.summary == "primary, asynchronous standby standby (level)")
        #expect([found.synchronousStandbys, found.otherStandbys] == [0, 1])
        let remark = try #require(found.remarks.first)
        #expect(!remark.isProblem)
        #expect(remark.text.contains("set synchronous_standby_names"), "\(remark.text)")
    }

    @Test func `a synchronous standby is shown, and is a problem once it is missing`() throws {
        let server = try ThrowawayServer(["--standby"])
        let session = PostgreSQLSession(try server.address())
        try Self.set("synchronous_standby_names", "*", session)
        // While it follows, a standby may have a second connection for a moment.
        let whole = try Self.replication(session) { $0.isSynchronous && $0.otherStandbys == 0 }
        #expect(whole.summary.hasPrefix("primary, synchronous standby standby ("), "\(whole.summary)")
        #expect([whole.synchronousStandbys, whole.otherStandbys] == [1, 0])
        #expect(whole.remarks.isEmpty)

        try server.perform(.stopStandby)
        let alone = try Self.replication(session) { $0.standbys.isEmpty }
        let problem = try #require(alone.problems.first)
        #expect(problem.contains("start the standby, or empty synchronous_standby_names"), "\(problem)")
        #expect(!alone.isSynchronous, "a commit does not return")
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
        #expect(found.summary.contains("kB") && found.summary.contains("behind"), "\(found.summary)")
        let seenThere = try PostgreSQLReplication.read(standby)
        #expect(seenThere.summary == "standby")
        let problem = try #require(seenThere.problems.first)
        #expect(problem.contains("promote it or start the primary"), "a writer has the wrong server: \(problem)")
    }

    @Test func `a role without rights is told which right shows the standbys`() throws {
        let server = try ThrowawayServer(["--standby"])
        let owner = PostgreSQLSession(try server.address())
        try owner.script("CREATE ROLE \"Gate way\" LOGIN")
        let session = PostgreSQLSession(try server.address(user: "Gate%20way"))
        let found = try Self.replication(session) { $0.hidden == 1 }
        #expect(found.summary == "primary, 1 of unknown state")
        #expect(found.standbys.isEmpty, "the role sees no names")
        #expect([found.hidden, found.otherStandbys] == [1, 1], "but that there is one")
        let remark = try #require(found.remarks.first)
        #expect(!remark.isProblem)
        #expect(remark.text.hasSuffix("GRANT pg_monitor TO \"Gate way\" shows it"), "\(remark.text)")
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
        #expect(load.sessions == 1)
        #expect(load.waited == 2, "two of three requests waited for the one session")
        #expect([load.inUse, load.waiting, load.refused] == [0, 0, 0], "none waits afterwards")
        #expect(load.connections == 1)
        try server.perform(.kill)
        try server.perform(.start)
        _ = try await pool.run { try $0.execute("SELECT 1").count }
        #expect(pool.load.connections == 2, "the server has ended the first one")
    }
}
