// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Writes that share a commit", .timeLimit(.minutes(8)), .bothEngines)
struct GroupCommitTests {
    private struct Bad: Error {}

    private static func database() throws -> DirectoryDatabase {
        let database = try Engine.open(TemporaryFolder().path)
        try database.pool.write { try $0.execute("CREATE TABLE note (text TEXT NOT NULL UNIQUE)") }
        return database
    }

    private static func note(_ text: String, _ database: DirectoryDatabase) async throws {
        try await database.commits.write { try $0.execute("INSERT INTO note VALUES (?)", [text]) }
    }

    private static func notes(_ database: DirectoryDatabase) throws -> Set<String> {
        try database.pool.read { Set(try $0.values(String.self, "SELECT text FROM note")) }
    }

    /// Writes all texts at once; the responses are in their order.
    private static func noteAll(_ texts: [String], _ database: DirectoryDatabase) async -> [Result<Void, any Error>] {
        await withTaskGroup { group in
            for (place, text) in texts.enumerated() {
                group.addTask { () async -> (Int, Result<Void, any Error>) in
                    do {
                        try await note(text, database)
                        return (place, .success(()))
                    } catch {
                        return (place, .failure(error))
                    }
                }
            }
            let missing = [Result<Void, any Error>](repeating: .failure(Bad()), count: texts.count)
            return await group.reduce(into: missing) { $0[$1.0] = $1.1 }
        }
    }

    @Test func `what returned can be read by another connection`() async throws {
        let database = try Self.database()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try await Self.note("\(number)", database)
                    #expect(try Self.notes(database).contains("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try Self.notes(database).count == 200)
    }

    @Test func `one that fails does not fail its neighbours`() async throws {
        let database = try Self.database()
        try await Self.note("taken", database)
        let texts = (0..<60).map { $0 % 3 == 1 ? "taken" : "note \($0)" }
        let responses = await Self.noteAll(texts, database)
        for (text, response) in zip(texts, responses) {
            #expect(((try? response.get()) == nil) == (text == "taken"), "\(text)")
        }
        #expect(try Self.notes(database) == Set(texts))
    }

    @Test func `one that fails half way leaves nothing`() async throws {
        let database = try Self.database()
        async let good: Void = Self.note("good", database)
        await #expect(throws: Bad.self) {
            try await database.commits.write { database in
                try database.execute("INSERT INTO note VALUES ('half')")
                throw Bad()
            }
        }
        try await good
        #expect(try Self.notes(database) == ["good"])
    }

    @Test(.sqliteAlone) func `no writer gets a success when the commit fails`() async throws {
        let database = try Self.database()
        // A foreign key that is checked at the commit only.
        try await database.file.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE child (parent INTEGER REFERENCES account (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TRIGGER late AFTER INSERT ON note WHEN NEW.text = 'late'
                    BEGIN INSERT INTO child VALUES (4711); END
                    """)
        }
        let responses = await Self.noteAll(["late"], database)
        #expect(throws: DatabaseError.self) { try responses[0].get() }
        #expect(try Self.notes(database).isEmpty)
        try await Self.note("later", database)
        #expect(try Self.notes(database) == ["later"])
    }

    @Test func `an event that cannot be stored leaves those beside it alone`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try directory.database.refuse("INSERT", on: "event", when: "NEW.outcome = 'poison'")
            let statuses = try await withThrowingTaskGroup { group in
                for number in 0..<40 {
                    group.addTask {
                        let event = EventRequest(
                            phoneNumber: "+61491570156", outcome: number % 4 == 0 ? "poison" : "displayed",
                            eventKey: "key-\(number % 20)")
                        let body = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
                        return try await directory.post("/" + APIPath.event, body).status
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [500: 10, 200: 30])
            #expect(try EventLedger(directory.database).page(.init(), limit: 100).events.count == 15)
            let config = try AccountStore(directory.database).config(now: directory.time.now)
            #expect(config.usedThisMonth == 15)
        }
    }

    @Test func `a key that another process revokes stops at once`() async throws {
        try await RunningDirectory.run { directory in
            #expect(try await directory.ask("/" + APIPath.sync).status == 200)
            let other = try Engine.open(directory.folder.path + "/state")
            #expect(try AccountStore(other).revokeKey(name: "test", now: directory.time.now))
            #expect(try await directory.ask("/" + APIPath.sync).status == 401)
        }
    }

    @Test func `names of events are UUIDs of version 7 in the order of their seconds`() {
        let names = (0..<50).map { EventID.make(now: ManualTime.start + $0) }
        #expect(names == names.sorted())
        #expect(Set((0..<1000).map { _ in EventID.make(now: ManualTime.start) }).count == 1000)
        for name in names {
            #expect(UUID(uuidString: name) != nil)
            #expect(name.dropFirst(14).first == "7" && "89ab".contains(name.dropFirst(19).first ?? "-"))
        }
    }
}
