// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import Host
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("An import beside other writers", .timeLimit(.minutes(8)))
struct SteppedMergeTests {
    private let folder = TemporaryFolder()
    private let database: DirectoryDatabase

    init() throws { database = try DirectoryDatabase(folder: folder.path) }

    /// Rows of which each has a number and a brand of its own.
    private static func file(_ numbers: Range<Int>, name: String) -> [UInt8] {
        let rows = numbers.map { "+6149\(1_000_000 + $0),\(name) \($0),,,brand-\($0 % 300)\n" }
        return Array(("number,brand_name,logo_url,call_reason,brand_id\n" + rows.joined()).utf8)
    }

    private static func load(
        _ file: [UInt8], into database: DirectoryDatabase, replaces: Bool = false, isTrial: Bool = false,
        turn: WorkTurn = .alone
    ) throws -> BrandImport.Result {
        let normaliser = NumberNormaliser(region: nil)
        var options = BrandImport.Options()
        (options.replaces, options.isTrial) = (replaces, isTrial)
        return try BrandImport(database, turn: turn) { normaliser.normalise(Array($0.utf8)) }
            .run(file, options, now: ManualTime.start)
    }

    private func names() throws -> [String: String] {
        try BrandEntries(database).active(limit: 100_000).reduce(into: [:]) { $0[$1.phoneNumber] = $1.brandName }
    }

    private var leftovers: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(".rows") || $0.hasSuffix(".merge")
            }
        }
    }

    /// Calls `body` at every pause of a merge, that is once the first number of it is there.
    private func duringMerge(_ name: String, _ body: @escaping @Sendable () throws -> Void) -> WorkTurn {
        WorkTurn { [database] in
            let hasBegun = try database.pool.read {
                try $0.exists("SELECT 1 FROM brand_number WHERE name LIKE ? LIMIT 1", [name + "%"])
            }
            if hasBegun { try body() }
        }
    }

    @Test func `events and edits are written between two steps`() async throws {
        let events = Mutex(0)
        let edits = Mutex(0)
        let turn = duringMerge("New") { [database] in
            // Both fail after a minute if the import keeps the database.
            try database.pool.write { _ in events.withLock { $0 += 1 } }
            let number = try #require(E164Number("+61491999999"))
            try BrandNumbers(database).set(number, brandID: "brand-1", reason: nil, now: 1)
            edits.withLock { $0 += 1 }
        }
        let result = try Self.load(Self.file(0..<3_000, name: "New"), into: database, turn: turn)
        #expect(result.imported == 3_000 && result.isWritten)
        #expect(events.withLock { $0 } > 2 && edits.withLock { $0 } > 2)
        #expect(try names().count == 3_001 && leftovers.isEmpty)
    }

    @Test func `a client that syncs meanwhile misses nothing`() throws {
        _ = try Self.load(Self.file(0..<2_000, name: "Old"), into: database)
        let client = Mutex<(copy: [String: String], cursor: SyncCursor?)>(([:], nil))
        let syncs = Mutex(0)
        @Sendable func sync() throws {
            try client.withLock { client in
                let parameters = ChangeFeed.Parameters(
                    account: .first, since: client.cursor, includesInactive: true, now: ManualTime.start)
                let (items, cursor) = try database.pool.read { connection in
                    let feed = try ChangeFeed(parameters, connection)
                    var page = try feed.page(logos: LogoURLs(), connection)
                    var pages = page.text
                    while page.entries == 1_000 {
                        page = try feed.page(after: page, logos: LogoURLs(), connection)
                        pages += (page.entries > 0 ? [UInt8(ascii: ",")] : []) + page.text
                    }
                    return (
                        try JSONDecoder().decode([BrandingItem].self, from: Data("[".utf8 + pages + "]".utf8)),
                        feed.cursor
                    )
                }
                for item in items {
                    client.copy[item.phoneNumber] = item.isActive == false ? nil : item.brandName
                }
                client.cursor = cursor
            }
            syncs.withLock { $0 += 1 }
        }
        try sync()
        let turn = duringMerge("New") { [database] in
            try sync()
            // A number of both files is never out of use.
            #expect(
                try BrandEntries(database).active(limit: 100_000).filter { $0.phoneNumber < "+61491001000" }.count
                    == 1_000)
        }
        let result = try Self.load(Self.file(0..<1_000, name: "New"), into: database, replaces: true, turn: turn)
        #expect(result.imported == 1_000 && result.deactivated == 1_000)
        try sync()
        #expect(syncs.withLock { $0 } > 4)
        #expect(try client.withLock { $0.copy } == names())
    }

    @Test(arguments: [1, 2, 4])
    func `an import that ends in its merge is completed by the next program`(step: Int) throws {
        struct Killed: Error {}
        _ = try Self.load(Self.file(0..<2_000, name: "Old"), into: database)
        let steps = Mutex(0)
        let turn = duringMerge("New") {
            if steps.withLock({
                $0 += 1; return $0
            }) == step {
                throw Killed()
            }
        }
        #expect(throws: BrandImportError.self) {
            try Self.load(Self.file(0..<1_500, name: "New"), into: database, replaces: true, turn: turn)
        }
        #expect(try names().values.contains { $0.hasPrefix("Old") }, "the merge is not complete")
        #expect(try leftovers.count == 2)
        let next = try DirectoryDatabase(folder: folder.path)
        let finished = try LeftBehindMerges(next, now: { ManualTime.start }).finish()
        #expect(finished.count == 1)
        #expect(try names().count == 1_500 && names().values.allSatisfy { $0.hasPrefix("New") })
        #expect(try leftovers.isEmpty)
        #expect(try LeftBehindMerges(next, now: { ManualTime.start }).finish().isEmpty)
    }

    @Test func `the next import of the account completes the one before first`() throws {
        struct Killed: Error {}
        let turn = duringMerge("New") { throw Killed() }
        #expect(throws: BrandImportError.self) {
            try Self.load(Self.file(0..<1_000, name: "New"), into: database, turn: turn)
        }
        let result = try Self.load(Self.file(2_000..<2_010, name: "Next"), into: database)
        #expect(result.imported == 10)
        #expect(try names().count == 1_010 && leftovers.isEmpty)
    }

    @Test func `an import that ends before its merge changes nothing, and its rows go`() throws {
        struct Killed: Error {}
        #expect(throws: Killed.self) {
            try Self.load(Self.file(0..<3_000, name: "New"), into: database, turn: WorkTurn { throw Killed() })
        }
        #expect(try names().isEmpty && leftovers.isEmpty)
        // The rows of a program that was killed while it read.
        let rows = folder.path + "/import-\(UUID().uuidString).rows"
        try Data().write(to: URL(fileURLWithPath: rows))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: rows)
        #expect(try LeftBehindMerges(database, now: { 0 }).finish().isEmpty)
        #expect(try leftovers.isEmpty)
    }

    @Test func `of two replacements at once one is complete`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, numbers) in [("A", 0..<2_000), ("B", 1_000..<3_000)] {
                group.addTask { [database] in
                    try await database.operatorWork.run { _ in
                        _ = try Self.load(Self.file(numbers, name: name), into: database, replaces: true)
                    }
                }
            }
            try await group.waitForAll()
        }
        let names = try names()
        #expect(names.count == 2_000)
        #expect(Set(names.values.map { $0.prefix(1) }).count == 1, "two files are mixed")
    }
}

@Suite("A trial of an import", .timeLimit(.minutes(8)), .bothEngines)
struct ImportTrialTests {
    @Test(arguments: [false, true])
    func `counts what the import changes, and changes nothing`(replaces: Bool) throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let normaliser = NumberNormaliser(region: nil)
        func load(_ text: String, isTrial: Bool) throws -> BrandImport.Result {
            var options = BrandImport.Options()
            (options.isTrial, options.replaces) = (isTrial, replaces)
            return try BrandImport(database) { normaliser.normalise(Array($0.utf8)) }
                .run(Array(("number,brand_name,brand_id\n" + text).utf8), options, now: ManualTime.start)
        }
        _ = try load("+61491570156,Acme,acme\n+61491570157,Acme,acme\n+61491570158,Acme,acme\n", isTrial: false)
        let file = "+61491570156,Acme,acme\n+61491570157,Acme Bank,acme\n+61491570159,New,new\n"
        let before = try BrandEntries(database).active(limit: 10)
        var trial = try load(file, isTrial: true)
        #expect(try BrandEntries(database).active(limit: 10) == before && !trial.isWritten)
        let real = try load(file, isTrial: false)
        trial.isWritten = true
        #expect(trial == real)
        #expect(real.imported == 2 && real.unchanged == 1 && real.deactivated == (replaces ? 1 : 0))
    }
}
