// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Files of earlier versions", .timeLimit(.minutes(8)))
struct UpgradeTests {
    private let folder = TemporaryFolder()

    /// Writes both files of a state folder.
    private func write(ledger: String = Version020.ledger, brands: String = Version020.brands) throws {
        for (path, script) in zip(Self.paths(folder.path), [ledger, brands]) {
            let file = try DatabaseQueue(path: path)
            try file.write { try $0.execute(sql: script) }
            try file.close()
        }
    }

    private static func paths(_ folder: String) -> [String] {
        [HeraldDatabase.ledgerPath(in: folder), HeraldDatabase.brandsPath(in: folder)]
    }

    /// Opens both files and closes them.
    private func start(_ folder: String) throws { try HeraldDatabase(folder: folder).close() }

    /// Columns and indexes of each table, one a line, in the order of the columns.
    private static func tables(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { database in
            let names = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            let columns = try names.flatMap { name in
                try Row.fetchAll(database, sql: "PRAGMA table_info(\(name))").map { "\(name) \($0.description)" }
            }
            let indexes = try String.fetchAll(
                database, sql: "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
            return columns + indexes
        }
    }

    /// All rows of a file and the statements of its tables.
    private static func content(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { database in
            let names = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try (["sqlite_master"] + names).flatMap { name in
                try Row.fetchAll(database, sql: "SELECT * FROM \(name)").map { "\(name) \($0.description)" }
            }
        }
    }

    @Test func `files of version 0.2.0 get the tables of new ones`() throws {
        try write()
        try start(folder.path)
        let new = TemporaryFolder()
        try start(new.path)
        for (upgraded, fresh) in zip(Self.paths(folder.path), Self.paths(new.path)) {
            #expect(try Self.tables(upgraded) == Self.tables(fresh))
        }
    }

    // A directory responds with 304 to a validator that it knows, and a 304 has no `card_url`.
    @Test func `the first sync after an upgrade is unconditional, because earlier versions stored no card_url`() throws
    {
        let held = #"'{"tag":"W/\"v1\""}'"#
        try write(
            brands: Version020.brands
                + "UPDATE sync_state SET cursor = 'c1', full_validator = \(held), cursor_validator = \(held);")
        try start(folder.path)
        let validators = try DatabaseQueue(path: HeraldDatabase.brandsPath(in: folder.path)).read {
            try Row.fetchAll($0, sql: "SELECT cursor, full_validator, cursor_validator FROM sync_state")
        }
        #expect(validators == [["cursor": "c1", "full_validator": nil, "cursor_validator": nil]])
    }

    @Test func `a file between version 0.2.0 and this one gets the steps that it lacks`() throws {
        try write(
            ledger: Version020.ledger + """
                ALTER TABLE call ADD COLUMN evidence INTEGER;
                INSERT INTO grdb_migrations VALUES ('ledger evidence of decisions');
                """)
        try start(folder.path)
        let new = TemporaryFolder()
        try start(new.path)
        #expect(
            try Self.tables(HeraldDatabase.ledgerPath(in: folder.path))
                == Self.tables(HeraldDatabase.ledgerPath(in: new.path)))
    }

    @Test func `files with the present tables are opened without a change`() throws {
        try write()
        try start(folder.path)
        let before = try Self.paths(folder.path).map(Self.content)
        #expect(before.allSatisfy { !$0.isEmpty })
        try start(folder.path)
        #expect(try Self.paths(folder.path).map(Self.content) == before)
    }

    @Test func `a ledger before version 0.2.0 is refused with the remedy, and stays as it is`() throws {
        try write(
            ledger: Version020.ledger + "DELETE FROM grdb_migrations WHERE identifier = 'ledger callers as received'")
        let path = HeraldDatabase.ledgerPath(in: folder.path)
        let before = try Self.content(path)
        let error = #expect(throws: HeraldDatabaseError.self) { try start(folder.path) }
        #expect(error?.problem == .tooOld)
        #expect(error?.description.contains("start version 0.2.0 with it once") == true)
        #expect(try Self.content(path) == before)
    }
}
