// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Copying a directory from SQLite to PostgreSQL", .timeLimit(.minutes(8)), .onServer)
struct DatabaseCopyTests {
    @Test func `everything is there, and clients go on from their cursors`() async throws {
        let folder = TemporaryFolder()
        let old = try DirectoryDatabase(folder: folder.path)
        let key = try AccountStore(old).createKey(name: "gateway", now: 1)
        let secret = try SigningSecrets(old).create(forKey: key)
        _ = try AccountList(old).create(name: "second", now: 2)
        _ = try BrandEntries(old).put(
            (0..<1500).map { try entry("+6149157\(1000 + $0)", "Näme \"\($0)\"\t,{}\\") }, now: 3)
        #expect(try BrandEntries(old).deactivate(#require(E164Number("+61491571003")), now: 4))
        let event = EventRequest(phoneNumber: "+61491571001", outcome: "displayed", eventKey: "key-1")
        let recorded = try await EventLedger(old).record(event, now: ManualTime.start)
        try LogoStore(old).add(Data([0xFF, 0xD8, 0xFF, 1]), name: "a.jpg", now: 5)
        let upload = try await old.receive(logs: [7, 0, 9], now: ManualTime.start)
        let cursor = try await old.pool.read { try ChangeFeed(.init(account: .first, now: 9), $0).cursor }

        let target = DatabaseServer(url: try Engine.newURL())
        let counts = try DatabaseCopy(from: folder.path, to: target).run()
        #expect(counts.first { $0.table == "brand_number" }?.rows == 1500)
        let new = try DirectoryDatabase(server: target, folder: folder.path)
        #expect(try await new.caller(ofKey: key, now: 6)?.signing?.id == secret.id)
        let exports = try await [old, new].asyncMap { database in
            var export = try BrandExport(database, format: .jsonl)
            var text: [UInt8] = []
            while let piece = try await export.next() { text += piece }
            return text
        }
        #expect(exports[0] == exports[1] && exports[0].count > 100_000)
        let after = try await new.pool.read { database in
            let feed = try ChangeFeed(.init(account: .first, since: cursor, includesInactive: true, now: 9), database)
            return try feed.page(logos: LogoURLs(), database).entries
        }
        #expect(after == 0)
        let again = try await EventLedger(new).record(event, now: ManualTime.start)
        #expect(again.eventID == recorded.eventID && again.config?.usedThisMonth == 1)
        #expect(try await LogoStore(new).find("a.jpg")?.data == LogoStore(old).find("a.jpg")?.data)
        #expect(try UploadedLogs(upload.file, in: new).read(at: 0) == [7, 0, 9])
        // Numbers that the server gives go on after those that were copied.
        let third = try AccountList(new).create(name: "third", now: 7)
        #expect(third.row == 3)
        _ = try await EventLedger(new).record(EventRequest(phoneNumber: "+1", outcome: "missed"), now: ManualTime.start)

        let error = #expect(throws: DatabaseCopyError.self) { try DatabaseCopy(from: folder.path, to: target).run() }
        #expect(error?.description.contains("is not empty") == true)
    }

    @Test func `a renewed feed sends by time what a client may lack`() throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path)
        _ = try BrandEntries(database).put([entry("+61491570156")], now: 10)
        _ = try BrandEntries(database).put([entry("+61491570157")], now: 30)
        let cursor = SyncCursor(seconds: 20, change: 2)
        func entries() throws -> Int {
            try database.pool.read { database in
                try ChangeFeed(.init(account: .first, since: cursor, now: 40), database)
                    .page(logos: LogoURLs(), database).entries
            }
        }
        // The cursor's time is before its change, which a restored database shows too.
        #expect(try entries() == 1)
        let usual = SyncCursor(seconds: 30, change: 2)
        try AccountStore(database).renewFeed()
        let head = try database.pool.read { try ChangeCounter.head(.first, $0) }
        #expect(head.epoch == 1 && usual.change(in: head) == nil && usual.isAhead(of: head))
        #expect(SyncCursor(seconds: 30, change: 2, epoch: 1).text.hasSuffix(".100000002Z"))
        #expect(SyncCursor("2026-01-01T00:00:00.100000002Z")?.change(in: head) == 2)
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
