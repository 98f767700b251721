// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: the operator's view, opening, retention")
struct LedgerReaderTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    @Test func `calls are found by number, trunk, outcome, time, id and brand`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        var other = ScriptedCall(ledger.ring, 2)
        other.caller = 14_155_550_100
        other.reason = .noMatch
        other.sipCallID = "c2@carrier"
        other.invite(at: 100)
        other.answered(at: 110)
        other.bye(at: 120)
        try ledger.recorder.drain()

        func ids(_ change: (inout CallFilter) -> Void) throws -> [String] {
            var filter = CallFilter()
            change(&filter)
            return try ledger.calls(filter).map { String($0.callID.suffix(1)) }
        }
        let start = LedgerFixture.Clock.start / 1_000_000
        #expect(try ids { _ in } == ["1", "2"])
        #expect(try ids { $0.number = E164Number("+14155550100") } == ["2"])
        #expect(try ids { $0.number = E164Number("+61291234567") } == ["1", "2"])
        #expect(try ids { $0.trunk = "carrier" } == ["1", "2"])
        #expect(try ids { $0.trunk = "second" } == [])
        #expect(try ids { $0.outcome = "MISSED" } == ["1"])
        #expect(try ids { $0.outcome = "OPEN" } == [])
        #expect(try ids { $0.since = start + 100 } == ["2"])
        #expect(try ids { $0.until = start + 99 } == ["1"])
        #expect(try ids { $0.decisions = ["matched"] } == ["1"])
        #expect(try ids { $0.callID = "c2@carrier" } == ["2"])
        #expect(try ids { $0.callID = other.id.description } == ["2"])
        let newest = try LedgerReader(ledger.database.ledger).calls(limit: 1)
        #expect(newest.map(\.sipCallID) == ["c2@carrier"])
    }

    @Test func `a Call-ID longer than the ledger keeps is found as a whole, and by its beginning`() throws {
        // RFC 3261 §8.1.1.4 sets no length; some carriers write several identifiers into one.
        let whole = String(repeating: "0123456789abcdef", count: 19) + "@sbc.carrier.example"
        var call = ScriptedCall(ledger.ring, 1)
        call.sipCallID = whole
        call.invite()
        call.bye(at: 3)
        try ledger.recorder.drain()
        for text in [whole, String(whole.prefix(200)), String(whole.prefix(160))] {
            var filter = CallFilter()
            filter.callID = text
            #expect(try ledger.calls(filter).count == 1)
            var part = CallFilter()
            part.callIDPart = text
            #expect(try ledger.calls(part).count == 1)
        }
        var other = CallFilter()
        other.callID = "1" + whole
        #expect(try ledger.calls(other).isEmpty)
    }

    @Test func `the ladder has the messages in their order`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        call.answered(at: 9, marks: .voicemail)
        call.bye(at: 30)
        try ledger.recorder.drain()
        let story = try #require(try ledger.calls().first).ladder.rungs
        #expect(story.map { $0.sinceInvite / 1_000_000 } == [0, 2, 9, 30])
        #expect(
            story.map(\.what) == [
                "INVITE with the brand", "180, the phone rings", "answered by voicemail", "ended: MISSED",
            ])
    }

    @Test func `following gives each call once, when it has ended`() throws {
        let first = ScriptedCall(ledger.ring, 1)
        first.invite()
        ScriptedCall(ledger.ring, 2).missed()
        try ledger.recorder.drain()
        var follower = try CallFollower(LedgerReader(ledger.database.ledger), .init())
        #expect(try follower.next().isEmpty)
        let third = ScriptedCall(ledger.ring, 3)
        third.missed()
        try ledger.recorder.drain()
        #expect(try follower.next().map(\.callID) == [third.id.description])
        first.failed(480, at: 40)
        let fourth = ScriptedCall(ledger.ring, 4)
        fourth.invite(at: 50)
        try ledger.recorder.drain()
        #expect(try follower.next().map(\.callID) == [first.id.description])
        #expect(try follower.next().isEmpty)
    }

    @Test func `a command reads the ledger while the gateway writes it`() throws {
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: ledger.folder))
        #expect(try reader.calls(limit: 10).isEmpty)
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        #expect(try reader.calls(limit: 10).count == 1)
        #expect(try reader.events(limit: 10).count == 2)
        ScriptedCall(ledger.ring, 2).invite(at: 100)
        try ledger.recorder.drain()
        #expect(try reader.calls(limit: 10).map(\.outcome) == [nil, "MISSED"])
        #expect(throws: DatabaseError.self) {
            try HeraldDatabase.ledgerReader(folder: ledger.folder).read {
                try $0.execute(sql: "DELETE FROM call")
            }
        }
    }

    @Test func `a ledger closed and opened again is the same`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        let rows = try ledger.rows()
        try ledger.database.close()
        #expect(throws: (any Error).self) { try ledger.rows() }
        try ledger.restart()
        #expect(try ledger.rows() == rows)
    }

    @Test func `a commit to the ledger waits for the disk, a sync does not`() throws {
        let sql = "PRAGMA synchronous"  // 2 is FULL, 1 is NORMAL
        #expect(try ledger.database.ledger.write { try Int.fetchOne($0, sql: sql) } == 2)
        #expect(try ledger.database.brands.write { try Int.fetchOne($0, sql: sql) } == 1)
    }

    @Test func `a folder without a ledger is said with the path`() {
        let error = #expect(throws: HeraldDatabaseError.self) { try HeraldDatabase.ledgerReader(folder: "/nowhere") }
        #expect(error?.problem == .missing)
        #expect(error?.description.contains("/nowhere/herald.sqlite") == true)
    }

    @Test func `a folder that may not be looked into is not taken for an empty one`() {
        let error = #expect(throws: HeraldDatabaseError.self) { try HeraldDatabase.ledgerReader(folder: "/dev/null") }
        #expect(
            error?.description == """
                /dev/null/herald.sqlite cannot be read: Not a directory; \
                run the command as the user herald runs as, or as root
                """)
    }

    @Test func `a file that is no database is an error without SQL`() throws {
        let path = ledger.folder + "/other"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: path + "/herald.sqlite"))
        let error = #expect(throws: HeraldDatabaseError.self) { try HeraldDatabase.ledgerReader(folder: path) }
        #expect(error?.description.contains("is damaged: file is not a database; restore it from a backup") == true)
    }

    @Test func `a ledger of a newer herald is left alone`() throws {
        try ledger.database.ledger.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('ledger 99')")
        }
        let error = #expect(throws: HeraldDatabaseError.self) { try HeraldDatabase(folder: ledger.folder) }
        #expect(error?.problem == .newer)
    }

    @Test func `a file that is no database is named`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(String(repeating: "A", count: 8192), to: "herald.sqlite")
        let error = #expect(throws: HeraldDatabaseError.self) { try HeraldDatabase(folder: folder.path) }
        #expect(error?.description.contains(file) == true)
    }

    @Test func `retention takes ended calls and delivered events, never waiting or refused ones`() async throws {
        let outbox = EventOutboxStore(ledger.database)
        for number in 1...4 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        ScriptedCall(ledger.ring, 5).invite()
        try ledger.recorder.drain()
        let start = LedgerFixture.Clock.start / 1_000_000
        let keys = try ledger.keys()
        try await outbox.markDelivered(key: keys[0], receipt: EventReceipt(counted: true), now: start)
        try await outbox.markDelivered(key: keys[1], receipt: EventReceipt(counted: true), now: start + 86_400 * 60)
        try await outbox.markRefused(key: keys[2], status: 400, reason: "no", now: start)
        ledger.clock.advance(seconds: 86_400 * 90)
        ScriptedCall(ledger.ring, 6).missed(from: 86_400 * 90)
        #expect(try ledger.recorder.prune() == 0)
        ledger.clock.advance(seconds: 86_400)
        try ledger.recorder.drain()
        #expect(try ledger.recorder.prune() == 1 + 4)
        #expect(Set(try ledger.keys()).isSuperset(of: keys[1...]))
        #expect(try ledger.keys().contains(keys[0]) == false)
        #expect(try ledger.calls().map { String($0.callID.suffix(1)) } == ["5", "6"])
        #expect(try ledger.recorder.prune() == 0)
    }

    @Test func `row numbers are not used again after retention`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 86_400 * 91)
        #expect(try ledger.recorder.prune() == 0)
        try ledger.restart()
        ScriptedCall(ledger.ring, 2).missed(from: 86_400 * 91)
        try ledger.recorder.drain()
        #expect(try ledger.recorder.prune() == 1)
        let ids = try ledger.database.ledger.read { try Int.fetchAll($0, sql: "SELECT id FROM call") }
        #expect(ids == [2])
    }
}
