// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import PostgreSQLTesting
import Testing

@Suite("PostgreSQL transactions")
struct TransactionTests {
    private static func pair() throws -> (PostgreSQLSession, PostgreSQLSession) {
        let server = try ThrowawayServer.shared.get()
        let address = try server.address(server.makeDatabase())
        let first = PostgreSQLSession(address)
        try first.script(
            "CREATE TABLE counter (id bigint PRIMARY KEY, value bigint); INSERT INTO counter VALUES (1, 0), (2, 0)")
        return (first, PostgreSQLSession(address))
    }

    private static func value(_ session: PostgreSQLSession, _ id: Int64 = 1) throws -> Int64? {
        try session.execute("SELECT value FROM counter WHERE id = $1", [.integer(id)]).first?.integer(0)
    }

    @Test func `an error in a transaction undoes all of it`() throws {
        struct Refused: Error {}
        let (first, second) = try Self.pair()
        #expect(throws: Refused.self) { () throws in
            try first.transaction { session in
                try session.execute("UPDATE counter SET value = 7")
                throw Refused()
            }
        }
        #expect(try Self.value(second) == 0)
        #expect(try first.transaction { try $0.execute("UPDATE counter SET value = 1").affected } == 2)
        #expect(try Self.value(second) == 1)
    }

    @Test func `commands of one round trip have all an effect, or none`() throws {
        let (first, second) = try Self.pair()
        #expect(throws: PostgreSQLError.self) { () throws in
            try first.atomically([
                PostgreSQLCommand("UPDATE counter SET value = 5 WHERE id = 1"),
                PostgreSQLCommand("INSERT INTO counter VALUES ($1, 0)", [2]),
                PostgreSQLCommand("UPDATE counter SET value = 6 WHERE id = 2"),
            ])
        }
        #expect(try Self.value(second) == 0)
        #expect(try Self.value(first, 2) == 0)
    }

    @Test func `a transaction that lost against another is run again (40001)`() throws {
        let (first, second) = try Self.pair()
        var attempts = 0
        try first.transaction(.repeatableRead) { session in
            attempts += 1
            let seen = try Self.value(session) ?? 0
            if attempts == 1 { try second.execute("UPDATE counter SET value = value + 10 WHERE id = 1") }
            try session.execute("UPDATE counter SET value = $1 WHERE id = 1", [.integer(seen + 1)])
        }
        #expect(attempts == 2)
        #expect(try Self.value(second) == 11)
    }

    @Test func `a transaction whose connection is lost before the commit is run again on another`() throws {
        let (first, second) = try Self.pair()
        var attempts = 0
        try first.transaction { session in
            attempts += 1
            try session.execute("UPDATE counter SET value = value + 1 WHERE id = 1")
            let process = try session.execute("SELECT pg_backend_pid()").first?.integer(0)
            if attempts == 1 { try second.execute("SELECT pg_terminate_backend($1::integer)", [.integer(process)]) }
            try session.execute("UPDATE counter SET value = value + 1 WHERE id = 2")
        }
        #expect(attempts == 2)
        #expect(first.connections == 2)
        #expect(try Self.value(second) == 1)
        #expect(try Self.value(second, 2) == 1)
    }

    @Test func `reads whose connection is lost between two statements are run again on another`() throws {
        let (first, second) = try Self.pair()
        var attempts = 0
        let values = try first.repeating { session in
            attempts += 1
            let one = try Self.value(session)
            let process = try session.execute("SELECT pg_backend_pid()").first?.integer(0)
            if attempts == 1 { try second.execute("SELECT pg_terminate_backend($1::integer)", [.integer(process)]) }
            return [one, try Self.value(session, 2)]
        }
        #expect(values == [0, 0])
        #expect(attempts == 2)
    }

    @Test func `two transactions that wait for each other both succeed (40P01)`() async throws {
        let server = try ThrowawayServer.shared.get()
        let address = try server.address(server.makeDatabase())
        try PostgreSQLSession(address).script(
            "CREATE TABLE counter (id bigint PRIMARY KEY, value bigint); INSERT INTO counter VALUES (1, 0), (2, 0)")
        let pool = PostgreSQLPool(address, sessions: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for order in [[Int64(1), 2], [2, 1]] {
                group.addTask {
                    try await pool.run { session in
                        try session.transaction { session in
                            for id in order {
                                try session.execute(
                                    "UPDATE counter SET value = value + 1 WHERE id = $1", [.integer(id)])
                                try session.execute("SELECT pg_sleep(0.05)")
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let sum = try await pool.run { try $0.execute("SELECT sum(value) FROM counter").first?.integer(0) }
        #expect(sum == 4)
    }

    @Test func `a conflict without end is thrown after the last attempt`() throws {
        let (first, second) = try Self.pair()
        var attempts = 0
        let error = #expect(throws: PostgreSQLError.self) { () throws in
            try first.transaction(.repeatableRead, attempts: 3) { session in
                attempts += 1
                _ = try Self.value(session)
                try second.execute("UPDATE counter SET value = value + 10 WHERE id = 1")
                try session.execute("UPDATE counter SET value = 0 WHERE id = 1")
            }
        }
        #expect(error?.cause == .conflict)
        #expect(attempts == 3)
    }

    @Test func `a read-only transaction refuses writes`() throws {
        let (first, _) = try Self.pair()
        let error = #expect(throws: PostgreSQLError.self) { () throws in
            try first.transaction(.readOnly, attempts: 1) { try $0.execute("UPDATE counter SET value = 1") }
        }
        #expect(error?.state == "25006")
    }
}
