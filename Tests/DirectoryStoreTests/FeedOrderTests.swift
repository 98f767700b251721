// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryFixtures
import Foundation
import PostgreSQL
import PostgreSQLTesting
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("The order of changes with several writers", .timeLimit(.minutes(8)), .onServer)
struct FeedOrderTests {
    /// Reads the changes after a cursor, as a client does; the change numbers with their numbers.
    private static func changes(
        _ cursor: SyncCursor?, _ database: DirectoryDatabase
    ) async throws -> (changes: [(change: Int64, number: Int64)], cursor: SyncCursor) {
        try await database.pool.read { database in
            let feed = try ChangeFeed(
                .init(account: .first, since: cursor, includesInactive: true, now: ManualTime.start), database)
            let start = cursor.flatMap { $0.change(in: feed.head) } ?? -1
            let rows = try database.rows(
                "SELECT change, number FROM brand_number WHERE account = 1 AND change > ? AND change <= ?",
                [start, feed.head.last])
            return (rows.map { ($0[0], $0[1]) }, feed.cursor)
        }
    }

    @Test(.bothEngines)
    func `four writers and a reader with a cursor: none missed, none doubled`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let isDone = Atomic(false)
        // The last change of each number that the reader saw, and the number of each change.
        var seen: [Int64: Int64] = [:]
        var numbers: [Int64: Int64] = [:]
        var doubled = 0
        let writers = Task {
            try await withThrowingTaskGroup { group in
                for writer in 0..<4 {
                    let own = try Engine.open(folder.path)
                    group.addTask {
                        for round in 0..<40 {
                            // Neighbours write the same numbers, so that changes of one number also race.
                            let entries = try (0..<3).map { place in
                                try entry(
                                    "+6149157\(1000 + (writer / 2) * 40 + (round + place) % 40)", "W\(writer)R\(round)")
                            }
                            _ = try BrandEntries(own).put(entries, now: ManualTime.start)
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
            isDone.store(true, ordering: .releasing)
        }
        var cursor: SyncCursor?
        var isLast = false
        while !isLast {
            isLast = isDone.load(ordering: .acquiring)
            let found = try await Self.changes(cursor, database)
            cursor = found.cursor
            for (change, number) in found.changes {
                if numbers.updateValue(number, forKey: change) != nil { doubled += 1 }
                seen[number] = max(seen[number] ?? 0, change)
            }
        }
        try await writers.value
        let present = try await database.pool.read { database in
            try database.rows("SELECT number, change FROM brand_number WHERE account = 1")
                .reduce(into: [Int64: Int64]()) { $0[$1[0]] = $1[1] }
        }
        #expect(doubled == 0)
        #expect(seen == present, "a change that the reader did not see")
        let last = try await database.pool.read { try ChangeCounter.last(.first, $0) }
        #expect(present.values.max() == last)
    }

    /// Two writers and a reader of a small feed, in a fixed order of their steps.
    private struct Race {
        let first: PostgreSQLSession
        let second: PostgreSQLSession
        let reader: PostgreSQLSession

        init() throws {
            let server = try ThrowawayServer.shared.get()
            let address = try server.address(server.makeDatabase())
            (first, second, reader) = (
                PostgreSQLSession(address), PostgreSQLSession(address), PostgreSQLSession(address)
            )
            try reader.script(
                """
                CREATE TABLE head (last bigint NOT NULL); INSERT INTO head VALUES (0); CREATE SEQUENCE numbers;
                CREATE TABLE entry (name text NOT NULL, change bigint NOT NULL);
                """)
        }

        func number(_ session: PostgreSQLSession, _ sql: String) throws -> Int64 {
            try #require(try session.execute(sql).first?.integer(0))
        }

        /// What a client with a cursor sees, and its next cursor by the head.
        func read(after cursor: Int64, head: String = "SELECT last FROM head") throws -> (names: [String], next: Int64)
        {
            let next = try number(reader, head)
            let rows = try reader.execute(
                "SELECT name FROM entry WHERE change > $1 AND change <= $2 ORDER BY change, name",
                [.integer(cursor), .integer(next)])
            return (try rows.map { try $0.text(0) ?? "" }, next)
        }
    }

    @Test func `change numbers from a sequence lose the change of the slower writer`() throws {
        let race = try Race()
        try race.first.execute("BEGIN")
        try race.first.execute("INSERT INTO entry VALUES ('slow', nextval('numbers'))")
        try race.second.execute("INSERT INTO entry VALUES ('fast', nextval('numbers'))")
        let head = "SELECT coalesce(max(change), 0) FROM entry"
        let seen = try race.read(after: 0, head: head)
        try race.first.execute("COMMIT")
        #expect(seen.names == ["fast"])
        #expect(try race.read(after: seen.next, head: head).names == [], "the slow change is lost")
    }

    @Test func `the head read before and advanced after the rows gives a number twice`() throws {
        let race = try Race()
        for session in [race.first, race.second] { try session.execute("BEGIN") }
        for (session, name) in [(race.first, "one"), (race.second, "two")] {
            let last = try race.number(session, "SELECT last FROM head")
            try session.execute("INSERT INTO entry VALUES ($1, $2)", [.text(name), .integer(last + 1)])
        }
        for session in [race.first, race.second] {
            try session.execute("UPDATE head SET last = last + 1")
            try session.execute("COMMIT")
        }
        let twice = try race.number(
            race.reader, "SELECT count(*) FROM (SELECT change FROM entry GROUP BY change HAVING count(*) > 1) AS twice")
        #expect(twice == 1)
    }

    @Test func `a head advanced in a transaction of its own loses the change of the slower writer`() throws {
        let race = try Race()
        let slow = try race.number(race.first, "UPDATE head SET last = last + 1 RETURNING last")
        let fast = try race.number(race.second, "UPDATE head SET last = last + 1 RETURNING last")
        try race.second.execute("INSERT INTO entry VALUES ('fast', $1)", [.integer(fast)])
        let seen = try race.read(after: 0)
        try race.first.execute("INSERT INTO entry VALUES ('slow', $1)", [.integer(slow)])
        #expect(seen.names == ["fast"])
        #expect(try race.read(after: seen.next).names == [], "the slow change is lost")
    }

    @Test func `the head locked first makes the second writer wait, and the reader sees both`() throws {
        let race = try Race()
        try race.first.execute("BEGIN")
        let slow = try race.number(race.first, "SELECT last FROM head FOR UPDATE") + 1
        #expect(throws: PostgreSQLError.self) { try race.second.execute("SELECT last FROM head FOR UPDATE NOWAIT") }
        try race.first.execute("INSERT INTO entry VALUES ('slow', $1)", [.integer(slow)])
        try race.first.execute("UPDATE head SET last = $1", [.integer(slow)])
        let before = try race.read(after: 0)
        try race.first.execute("COMMIT")
        try race.second.execute("BEGIN")
        let fast = try race.number(race.second, "SELECT last FROM head FOR UPDATE") + 1
        try race.second.execute("INSERT INTO entry VALUES ('fast', $1)", [.integer(fast)])
        try race.second.execute("UPDATE head SET last = $1", [.integer(fast)])
        try race.second.execute("COMMIT")
        #expect(before.names == [] && before.next == 0)
        #expect(try race.read(after: before.next).names == ["slow", "fast"])
    }
}
