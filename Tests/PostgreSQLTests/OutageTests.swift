// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import PostgreSQL
import PostgreSQLTesting
import Testing

/// Servers that are missing, refuse, die and return.
@Suite("PostgreSQL outages")
struct OutageTests {
    private static func failure(_ address: PostgreSQLAddress) -> PostgreSQLError? {
        do throws(PostgreSQLError) {
            try PostgreSQLSession(address).connect()
            return nil
        } catch { return error }
    }

    @Test func `a missing server is unreachable, with a remedy`() throws {
        for url in ["postgres://herald@127.0.0.1:9/herald", "postgres://herald@/herald?host=/nonexistent"] {
            let error = try #require(Self.failure(try PostgreSQLAddress(url)))
            #expect(error.cause == .unreachable)
            #expect(error.isOutage)
            #expect(error.description.contains("see whether the server runs"))
            #expect(!error.description.contains("?"), "libpq asks a person at a terminal")
        }
    }

    @Test func `an unknown database and an unknown user have errors of their own`() throws {
        let server = try ThrowawayServer.shared.get()
        #expect(Self.failure(try server.address("nothing"))?.cause == .noDatabase)
        #expect(Self.failure(try server.address(user: "nobody"))?.cause == .loginRefused)
    }

    @Test func `a user or an address that the server does not admit is no missing database`() throws {
        let rules = "/tmp/herald-hba.\(getpid()).\(Int.random(in: 0...Int.max))"
        let file = try #require(fopen(rules, "w"))
        fputs("local all all trust\n", file)
        fclose(file)
        defer { unlink(rules) }
        let server = try ThrowawayServer(["--loopback", "-c", "hba_file=\(rules)"])
        let database = try server.makeDatabase()
        try PostgreSQLSession(server.address(database)).script(
            "REVOKE CONNECT ON DATABASE \(database) FROM PUBLIC; CREATE ROLE stranger LOGIN")
        let refusals = [
            Self.failure(
                try PostgreSQLAddress("postgres://herald@127.0.0.1:\(server.port)/herald", password: "herald")),
            Self.failure(try server.address(database, user: "stranger")),
        ]
        #expect(refusals.map(\.?.cause) == [.loginRefused, .loginRefused], "\(refusals)")
    }

    @Test func `a wrong password, a missing one and a server without TLS are refused with words`() throws {
        let server = try ThrowawayServer(["--loopback"])
        let url = "postgres://herald@127.0.0.1:\(server.port)/herald"
        try PostgreSQLSession(PostgreSQLAddress(url, password: "herald")).execute("SELECT 1")
        for password in ["terces", ""] {
            let error = try #require(Self.failure(try PostgreSQLAddress(url, password: password)))
            #expect(error.cause == .loginRefused)
            #expect(!error.description.contains("terces"))
            #expect(error.description.contains("password file"))
        }
        let error = Self.failure(try PostgreSQLAddress(url + "?sslmode=require", password: "herald"))
        #expect(error?.cause == .tls)
        #expect(error?.description.contains("sslmode") == true)
    }

    @Test func `a server's certificate is checked against the given root and the host's name`() throws {
        let server = try ThrowawayServer(["--tls"])
        let root = "sslrootcert=\(server.folder)/server.crt"
        func address(_ host: String, _ options: String) throws -> PostgreSQLAddress {
            try PostgreSQLAddress("postgres://herald@\(host):\(server.port)/herald?\(options)", password: "herald")
        }
        let session = PostgreSQLSession(try address("localhost", "sslmode=verify-full&\(root)"))
        let isEncrypted = try session.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").first?.flag(0)
        #expect(isEncrypted == true)
        let stranger = try ThrowawayServer(["--tls"])
        // The certificate has the name localhost and no address.
        let refusals = [
            ("127.0.0.1", root, "name the host in the address as its certificate does"),
            ("localhost", "sslrootcert=/nonexistent", "add sslrootcert=FILE"),
            ("localhost", "sslrootcert=\(stranger.folder)/server.crt", "does not have its issuer"),
        ]
        for (host, root, words) in refusals {
            let error = try #require(Self.failure(try address(host, "sslmode=verify-full&\(root)")))
            #expect(error.cause == .tls && error.isOutage)
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test func `an expired certificate is refused by verify-full, with words, and only by it`() throws {
        let server = try ThrowawayServer(["--expired"])
        func address(_ options: String) throws -> PostgreSQLAddress {
            try PostgreSQLAddress("postgres://herald@localhost:\(server.port)/herald?\(options)", password: "herald")
        }
        #expect(Self.failure(try address("sslmode=require")) == nil)
        let error = Self.failure(try address("sslmode=verify-full&sslrootcert=\(server.folder)/server.crt"))
        #expect(error?.cause == .tls)
        #expect(error?.description.contains("the certificate has expired, or") == true, "\(String(describing: error))")
    }

    @Test func `the second host is used if the first is down`() throws {
        let server = try ThrowawayServer(["--loopback"])
        let session = PostgreSQLSession(
            try PostgreSQLAddress(
                "postgres://herald@127.0.0.1:9,127.0.0.1:\(server.port)/herald?target_session_attrs=read-write",
                password: "herald"))
        #expect(try session.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func `a session goes on after the server was killed and started again`() throws {
        let server = try ThrowawayServer()
        let session = PostgreSQLSession(try server.address())
        try session.script("CREATE TABLE kept (id bigint)")
        try session.execute("INSERT INTO kept VALUES (1)")
        try server.perform(.kill)
        // The server's process for this session ends a moment after the killed one.
        while session.isConnected() { usleep(1_000) }
        let error = #expect(throws: PostgreSQLError.self) { () throws in try session.execute("SELECT 1") }
        #expect(error?.cause == .unreachable)
        try server.perform(.start)
        #expect(try session.execute("SELECT count(*) FROM kept").first?.integer(0) == 1)
        #expect(session.connections == 2)
    }

    @Test func `a session that the server has ended while it was idle is replaced before its next statement`() throws {
        let session = try ThrowawayServer.session()
        let process = try session.execute("SELECT pg_backend_pid()").first?.integer(0)
        let other = PostgreSQLSession(session.address)
        try other.execute("SELECT pg_terminate_backend($1::integer, 10000)", [.integer(process)])
        #expect(!session.isConnected())
        #expect(try session.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func `a statement during which the server is killed leaves its outcome unknown`() async throws {
        let server = try ThrowawayServer()
        // It does not end by itself, however long the loop below waits for its turn on a busy machine.
        let pool = PostgreSQLPool(try server.address(), sessions: 1, timeLimit: .seconds(3_600))
        let statement = PostgreSQLCommand("SELECT pg_sleep(3600)")
        let result = Task { try await pool.run { try $0.atomically([statement]).count } }
        let watch = PostgreSQLSession(try server.address())
        let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        while try watch.execute(sleeping).first?.integer(0) != 1 { try await Task.sleep(for: .milliseconds(1)) }
        try server.perform(.kill)
        let error = await #expect(throws: PostgreSQLError.self) { () async throws in try await result.value }
        #expect(error?.cause == .lost)
        #expect(error?.isOutcomeUnknown == true)
        #expect(error?.isRetryable == false)
    }

    @Test func `a server that does not respond in time is left, and the next statement connects anew`() throws {
        let session = try ThrowawayServer.session()
        session.timeLimit = .milliseconds(200)
        let error = #expect(throws: PostgreSQLError.self) { () throws in try session.execute("SELECT pg_sleep(20)") }
        #expect(error?.cause == .timedOut)
        session.timeLimit = .seconds(30)
        #expect(try session.execute("SELECT 1").first?.integer(0) == 1)
        #expect(session.connections == 2)
    }

    @Test func `a pool serves all requests with few sessions, and refuses what exceeds its queue`() async throws {
        let server = try ThrowawayServer.shared.get()
        let pool = PostgreSQLPool(try server.address(server.makeDatabase()), sessions: 2, mostWaiting: 50)
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await pool.run {
                        try $0.execute("SELECT $1::bigint", [.integer(Int64(number))]).first?.integer(0) ?? 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 1_225)
        #expect(pool.load.connections <= 2)
        let full = PostgreSQLPool(try server.address(), sessions: 1, mostWaiting: 0)
        let gate = DispatchSemaphore(value: 0)
        async let slow = full.run {
            gate.wait()
            return try $0.execute("SELECT 1").count
        }
        while full.load.inUse == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let error = await #expect(throws: PostgreSQLError.self) { () async throws in
            try await full.run { try $0.execute("SELECT 1").count }
        }
        #expect(error?.cause == .busy)
        gate.signal()
        #expect(try await slow == 1)
    }
}
