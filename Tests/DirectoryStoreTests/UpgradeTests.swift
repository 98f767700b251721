// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import PostgreSQL
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Databases of earlier versions", .timeLimit(.minutes(8)))
struct UpgradeTests {
    private let folder = TemporaryFolder()

    private var path: String { folder.path + "/directory.sqlite" }

    private func write(_ script: String) throws {
        let file = try DatabaseQueue(path: path)
        try file.write { try $0.execute(sql: script) }
        try file.close()
    }

    private func open() throws -> DirectoryDatabase { try DirectoryDatabase(folder: folder.path, creates: false) }

    /// Columns, keys, references and indexes of each table, one a line, in no order of the file.
    private static func tables(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { database in
            let names = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try names.flatMap { name in
                try ["table_xinfo", "foreign_key_list", "index_list"].flatMap { pragma in
                    try Row.fetchAll(database, sql: "PRAGMA \(pragma)(\(name))").map { row in
                        // The places in the file, and names that SQLite makes of them.
                        let values = row.filter { !["cid", "id", "seq"].contains($0.0) }.map { "\($0.1)" }
                        return "\(name) \(pragma) \(values.filter { !$0.contains("autoindex") })"
                    }
                }
            }.sorted()
        }
    }

    /// All rows of a file and the statements of its tables.
    private func content() throws -> [String] {
        try DatabaseQueue(path: path).read { database in
            let names = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try (["sqlite_master"] + names).flatMap { name in
                try Row.fetchAll(database, sql: "SELECT * FROM \(name)").map { "\(name) \($0.description)" }
            }
        }
    }

    @Test func `a directory of version 0.2.0 has the tables of a new one, and its rows`() async throws {
        try write(EarlierDirectories.version020)
        let database = try open()
        let second = try AccountList(database).find("second")
        #expect(second.row == 2)
        let config = try AccountStore(database).config(now: ManualTime.start)
        #expect(config.usedThisMonth == 1 && config.capThisMonth == .events(100))
        #expect(try AccountList(database).all(now: ManualTime.start).allSatisfy { !$0.hasCards })
        #expect(try await database.pool.read { try ChangeCounter.head(.first, $0) }.last == 3)
        let retry = EventRequest(phoneNumber: "+61491570156", outcome: "displayed", eventKey: "displayed:1")
        #expect(try await EventLedger(database).record(retry, now: ManualTime.start).eventID == "event-1")
        let next = EventRequest(phoneNumber: "+61491570156", outcome: "displayed", eventKey: "displayed:2")
        #expect(try await EventLedger(database).record(next, now: ManualTime.start).config?.usedThisMonth == 2)
        let report = try #require(try MonthReports(database).reports(month: "2026-01").first)
        #expect(report.counted == 2)
        #expect(try BrandEntries(database).active(limit: 9).map(\.brandName) == ["Acme"])

        let events = try EventLedger(database).page(.init(), limit: 9).events
        #expect(events.map(\.brandID) == ["acme", nil], "an earlier event has no brand")

        let new = TemporaryFolder()
        _ = try DirectoryDatabase(folder: new.path)
        #expect(try Self.tables(path) == Self.tables(new.path + "/directory.sqlite"))
    }

    @Test func `a file with the present tables is opened without a change`() throws {
        try write(EarlierDirectories.version020)
        _ = try open()
        let before = try content()
        #expect(before.contains { $0.contains("engines 6") })
        _ = try open()
        #expect(try content() == before)
    }

    @Test func `a file before version 0.2.0 is refused with the remedy, and stays as it is`() throws {
        try write(EarlierDirectories.version020 + "DELETE FROM grdb_migrations WHERE identifier = 'phones 5'")
        let before = try content()
        let error = #expect(throws: DirectoryDatabaseError.self) { try open() }
        #expect(error?.description.contains("run account list of version 0.2.0 with it once") == true)
        #expect(try content() == before)
    }

    @Test(.onServer) func `a server has the tables that its first program made`() throws {
        func columns(_ url: String) throws -> [String] {
            let session = PostgreSQLSession(try PostgreSQLAddress(url))
            return try [
                """
                SELECT table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable
                    || coalesce(' ' || column_default, '') || coalesce(' ' || collation_name, '')
                    || coalesce(' ' || identity_start, '')
                FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1
                """,
                """
                SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes
                WHERE schemaname = current_schema() ORDER BY 1
                """,
                """
                SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
                FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1
                """,
                """
                SELECT relname || ' ' || coalesce(reloptions::text, '') FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace ORDER BY 1
                """,
            ].flatMap { try session.execute($0).map { try $0.text(0) ?? "" } }
        }
        let (earlier, new) = (try Engine.newURL(), try Engine.newURL())
        let tables = EarlierDirectories.postgreSQL.replacing("TEXT", with: "text COLLATE \"C\"")
        try PostgreSQLSession(try PostgreSQLAddress(earlier)).script(
            """
            \(tables)
            CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL);
            INSERT INTO meta VALUES ('schema', 1), ('oldest_schema', 1);
            """)
        for url in [earlier, new] {
            let database = try DirectoryDatabase(server: DatabaseServer(url: url), folder: folder.path)
            #expect(try AccountStore(database).config(now: 1).clientID?.count == 32)
        }
        #expect(try columns(earlier) == columns(new))
    }
}
