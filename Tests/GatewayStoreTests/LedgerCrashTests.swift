// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import Testing

@testable import GatewayStore

@Suite("Recorder: kill, restart, a disk that refuses")
struct LedgerCrashTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    @Test func `killed before the first round, nothing is lost`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.restart()
        #expect(ledger.ring.opening == .resumed(pending: 8, capacity: 256))
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["ANSWERED", "MISSED", nil])
        #expect(try ledger.keys().count == 4)
    }

    @Test(arguments: 0...8)
    func `killed after any update, the story is the same as without`(stored: Int) throws {
        let whole = try LedgerFixture()
        ScriptedCall.three(whole.ring)
        try whole.recorder.drain()

        ScriptedCall.three(ledger.ring)
        if stored > 0 { try ledger.recorder.drain(limit: stored) }
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try ledger.rows().map(Self.withoutIDs).sorted() == whole.rows().map(Self.withoutIDs).sorted())
    }

    /// The call path counts the calls that begin in its process; the recorder counts the others.
    @Test(arguments: [0, 1, 2, 3, 6, 8])
    func `open calls of the run before are inherited, whether stored or left in the ring`(stored: Int) throws {
        ScriptedCall.three(ledger.ring)
        let second = ScriptedCall(ledger.ring, 4, sipCallID: "c4@carrier")
        second.invite(at: 60)
        if stored > 0 { try ledger.recorder.drain(limit: stored) }
        #expect(ledger.recorder.totals.inheritedCalls == 0, "they began in this process")
        try ledger.restart()
        // Begins before the first round, beside what was left.
        let own = ScriptedCall(ledger.ring, 9, sipCallID: "c9@carrier")
        own.invite(at: 100)
        try ledger.recorder.drain()
        #expect(ledger.recorder.totals.openCalls == 3)
        #expect(ledger.recorder.totals.inheritedCalls == 2)
        ScriptedCall(ledger.ring, 4, sipCallID: "c4@carrier").failed(486, at: 101)
        own.answered(at: 102)
        try ledger.recorder.drain()
        #expect(ledger.recorder.totals.inheritedCalls == 1)
        ScriptedCall(ledger.ring, 3).failed(486, at: 103)
        try ledger.recorder.drain()
        #expect(ledger.recorder.totals.inheritedCalls == 0)
        #expect(ledger.recorder.totals.openCalls == 1)
    }

    @Test func `inherited calls are known at the start, before the first round`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        try ledger.restart()
        #expect(ledger.recorder.totals.inheritedCalls == 1)
    }

    /// Row numbers may differ: events are numbered in the order in which rounds saw them.
    private static func withoutIDs(_ row: String) -> String {
        row.replacing(#/\b(id|shown_event|end_event):(\d+|NULL) ?/#, with: "")
    }

    @Test func `killed between commit and freeing the slots, nothing is doubled`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        let before = try ledger.rows()
        // The database has it all, the ring knows nothing of that.
        _ = ledger.ring.resume(after: 0)
        try ledger.restart()
        #expect(ledger.ring.opening == .resumed(pending: 8, capacity: 256))
        #expect(try ledger.recorder.drain().updates == 0)
        #expect(try ledger.rows() == before)
        #expect(ledger.ring.released == 8)
    }

    @Test func `killed inside the transaction, nothing of it is there and all of it comes again`() throws {
        ScriptedCall.three(ledger.ring)
        // A trigger that refuses the third call stands for a kill in the middle of a transaction.
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER stop BEFORE INSERT ON event WHEN NEW.outcome = 'missed'
                    BEGIN SELECT RAISE(ABORT, 'stopped'); END
                    """)
        }
        #expect(throws: DatabaseError.self) { try ledger.recorder.drain() }
        #expect(try ledger.rows() == [])
        #expect(ledger.ring.released == 0)
        try ledger.database.ledger.write { try $0.execute(sql: "DROP TRIGGER stop") }
        try ledger.restart()
        #expect(try ledger.recorder.drain() == .init(updates: 8, calls: 3, events: 4, skipped: 0))
        #expect(Set(try ledger.keys()).count == 4)
        #expect(try ledger.recorder.drain() == .init())
    }

    @Test func `a restart finishes the story of an open call`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        try ledger.restart()
        #expect(try ledger.calls().map(\.outcome) == [nil])
        let later = ScriptedCall(ledger.ring, 1)
        later.invite(at: 3)  // its sender repeats it: the call is known
        later.answered(at: 10)
        try ledger.recorder.drain()
        try ledger.restart()
        ScriptedCall(ledger.ring, 1).bye(at: 25)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "ANSWERED")
        #expect(row.ringSeconds == 8)
        #expect(row.callSeconds == 15)
        #expect(row.brandName == "Acme \"Bank\"")
        #expect(try ledger.keys() == ["displayed:\(call.id)", "call_seen:\(call.id)"])
        #expect(row.events.count == 2)
    }

    @Test func `after a restart an INVITE that is repeated late begins no second call`() throws {
        let busy = ScriptedCall(ledger.ring, 1)
        busy.invite()
        busy.failed(486, at: 0)
        try ledger.recorder.drain()
        try ledger.restart()
        ledger.clock.advance(seconds: 2)
        let repeated = ScriptedCall(ledger.ring, 1)
        repeated.invite(at: 2)
        repeated.failed(486, at: 2)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["BUSY"])
        #expect(try ledger.keys() == ["missed:\(busy.id)"])
    }

    @Test func `a new ring after a power cut does not confuse the old position`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        let ring = try UpdateRing(path: ledger.folder + "/fresh.ring", capacity: 256)
        let clock = ledger.clock
        let recorder = OutcomeRecorder(
            database: ledger.database, ring: ring, now: { clock.now }, clockSteps: clock.steps)
        ScriptedCall(ring, 2).missed(from: 60)
        try recorder.drain()
        #expect(try ledger.calls().count == 2)
        #expect(try ledger.keys().count == 4)
    }

    @Test func `a ledger put back to an older state reads again what the ring still has, while calls go on`() throws {
        let ring = try UpdateRing(path: ledger.folder + "/back.ring", capacity: 8)
        let clock = ledger.clock
        func recorder(_ database: HeraldDatabase) throws -> OutcomeRecorder {
            OutcomeRecorder(
                database: database, ring: ring, now: { clock.now }, clockSteps: clock.steps)
        }
        ScriptedCall(ring, 1).missed()
        try recorder(ledger.database).drain()
        ScriptedCall(ring, 2).missed()
        let newer = try HeraldDatabase(folder: ledger.folder + "/newer")
        try recorder(newer).drain()
        #expect(ring.released == 6)

        let back = try recorder(ledger.database)
        // More than there is room for: what waits to be read again must not give way to it.
        for number in 3...5 { ScriptedCall(ring, UInt64(number)).missed() }
        while try back.drain().updates > 0 {}
        #expect(try ledger.calls().prefix(3).map(\.outcome) == ["MISSED", "MISSED", "MISSED"])
    }

    @Test func `a full disk stops nothing, loses nothing and mends itself`() throws {
        let pages = try ledger.database.ledger.write { database in
            try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        }
        try limit(pages + 2)
        var failures = 0
        for number in 1...40 {
            ScriptedCall(ledger.ring, UInt64(number)).missed()
            do { try ledger.recorder.drain() } catch let error as DatabaseError {
                #expect(error.resultCode == .SQLITE_FULL)
                failures += 1
            }
        }
        #expect(failures > 0)
        let stored = try ledger.calls().count
        #expect(stored < 40)
        #expect(ledger.ring.released == UInt64(stored) * 3)
        #expect(try ledger.keys().count == stored * 2)

        try limit(1_000_000)
        while try ledger.recorder.drain().updates > 0 {}
        #expect(try ledger.calls().count == 40)
        #expect(Set(try ledger.keys()).count == 80)
        #expect(ledger.ring.released == 120)
    }

    @Test func `killed with a full disk, the next start has the whole story`() throws {
        let pages = try ledger.database.ledger.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try limit(pages)
        for number in 1...40 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        #expect(throws: DatabaseError.self) { try ledger.recorder.drain() }
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 40)
        #expect(Set(try ledger.keys()).count == 80)
    }

    private func limit(_ pages: Int) throws {
        try ledger.database.ledger.write { _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages)") }
    }
}
