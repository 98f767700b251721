// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import Synchronization
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Recorder: signals become rows once a second")
struct OutcomeRoundsTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    private func play(_ number: UInt64) { ScriptedCall(ledger.ring, number).missed() }

    /// Rounds of a recorder that has just stored its first call.
    private func begun() throws -> OutcomeRounds {
        var rounds = OutcomeRounds(ledger.recorder)
        play(1)
        rounds.round()
        #expect(try ledger.calls().count == 1)
        return rounds
    }

    @Test func `after a second without updates, the next call is stored at once`() throws {
        var rounds = try begun()
        ledger.clock.advance(seconds: 5)
        rounds.round()
        play(2)
        rounds.round()
        #expect(try ledger.calls().count == 2)
    }

    @Test func `no call goes for its age while the clock may be in the wrong year`() throws {
        var rounds = OutcomeRounds(ledger.recorder)
        for number in 1...3 { play(UInt64(number)) }
        func pass(hours: Int, clockIsSetByDays days: Int64 = 0) throws -> Int {
            ledger.clock.set(by: days * 86_400)
            for _ in 0..<hours * 2 {
                rounds.round()
                ledger.clock.advance(seconds: 1_800)
            }
            rounds.round()
            try ledger.database.ledger.write { try $0.execute(sql: "UPDATE event SET state = 1, settled_at = 1") }
            return try ledger.calls().count
        }
        #expect(try pass(hours: 0) == 3)
        #expect(try pass(hours: 0, clockIsSetByDays: 1_500) == 3, "four years ahead")
        #expect(try pass(hours: 3, clockIsSetByDays: -1_500) == 3)
        #expect(try pass(hours: 24 * 91) == 1, "they are old now; the newest row stays")
    }

    /// A gateway that was stopped has messages in its sockets that siblings have forwarded meanwhile.
    @Test(arguments: [true, false])
    func `after a stop of the process, reports of siblings come before its own late messages`(hasSiblings: Bool) throws
    {
        let steady = Mutex(Int64(0))
        if hasSiblings { ledger.recorder.cluster.onUpdates { _ in } }
        var rounds = OutcomeRounds(ledger.recorder, steady: { steady.withLock { $0 } })
        func pass(seconds: Int64) {
            steady.withLock { $0 += seconds * 1_000_000 }
            ledger.clock.advance(seconds: seconds)
            rounds.round()
        }
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 1)
        pass(seconds: 2)
        call.answered(at: 32)
        call.bye(at: 32)
        pass(seconds: 30)
        #expect(try ledger.calls().first?.outcome == (hasSiblings ? nil : "ANSWERED"))
        _ = ledger.recorder.cluster.take([call.update(.answered, 5, 200), call.update(.bye, 12)])
        for _ in 0..<5 { pass(seconds: 1) }
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "ANSWERED" && row.callSeconds == (hasSiblings ? 7 : 27), "a late BYE changes no end")
    }

    @Test func `each step begins with the part of the ring that waits`() throws {
        var told: [Double] = []
        var rounds = OutcomeRounds(ledger.recorder, pace: { told.append($0) })
        for number in 1...4 { play(UInt64(number)) }
        let waiting = ledger.ring.filling
        #expect(waiting > 0 && waiting < 1)
        rounds.round()
        #expect(told.first == waiting)
        #expect(told.dropFirst().allSatisfy { $0 == 0 })
    }

    @Test func `within a second updates wait in the ring, and rows come after it`() throws {
        var rounds = try begun()
        play(2)
        rounds.round()
        #expect(try ledger.calls().count == 1)
        #expect(ledger.ring.released == 3)
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "MISSED"])
        #expect(try ledger.keys().count == 4)
        #expect(ledger.recorder.totals.updates == 6)
        #expect(ledger.ring.released == 6)
    }

    @Test func `no call is closed for its age while the ring has more updates of it`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 1)
        call.answered(at: 3)
        call.bye(at: 9)
        // The signals waited through a full disk and a restart.
        ledger.clock.advance(seconds: 3_600)
        for _ in 0..<4 { try ledger.recorder.drain(limit: 1) }
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["ANSWERED"])
    }

    @Test func `a call that changes in several rounds of a second is one row`() throws {
        var rounds = try begun()
        let call = ScriptedCall(ledger.ring, 2)
        call.invite()
        rounds.round()
        call.rings(at: 1)
        rounds.round()
        call.answered(at: 3)
        rounds.round()
        call.bye(at: 9)
        rounds.round()
        #expect(try ledger.calls().count == 1)
        rounds.storeAll()
        let row = try #require(try ledger.calls().last)
        #expect(row.outcome == "ANSWERED" && row.ringSeconds == 2 && row.callSeconds == 6)
        #expect(try ledger.keys().suffix(2) == ["displayed:\(call.id)", "call_seen:\(call.id)"])
    }

    @Test func `a ring that is a third full is stored before its time`() throws {
        var rounds = try begun()
        for number in 2...2_000 {
            // 256 slots: signals that no round stores are not there for the next.
            ScriptedCall(ledger.ring, UInt64(number)).invite()
            if number.isMultiple(of: 20) { rounds.round() }
        }
        #expect(try ledger.calls().count > 1)
        rounds.storeAll()
        #expect(ledger.recorder.totals.updates == 3 + 1_999)
        #expect(ledger.ring.shed.branded == 0)
    }

    /// A call of the longest texts, and a call of usual ones with six signals after its INVITE.
    @Test(arguments: [(texts: 504, updates: 5), (texts: 180, updates: 7)])
    func `the usual ring takes two seconds of 2,000 calls a second before it sheds`(
        call: (texts: Int, updates: Int)
    ) throws {
        let ring = try UpdateRing(inMemory: 131_072)
        let texts = CallTexts(
            sipCallID: [UInt8](repeating: 65, count: min(160, call.texts - 73)),
            brandName: [UInt8](repeating: 65, count: min(100, max(0, call.texts - 233))),
            brandID: [UInt8](repeating: 65, count: min(64, max(0, call.texts - 333))),
            subscriber: [UInt8](repeating: 65, count: min(64, max(0, call.texts - 397))),
            carrierName: [UInt8](repeating: 65, count: max(0, call.texts - 461)))
        // Unbranded: shed first.
        for number: UInt64 in 1...4_000 {
            for position in 0..<call.updates {
                let update = CallUpdate(
                    kind: position == 0 ? .invite : .provisional, direction: .inbound,
                    call: CallIdentifier(high: 1, low: number), wallMicroseconds: 0, reason: .noMatch)
                ring.append(update, texts: position == 0 ? texts : nil)
            }
        }
        #expect(ring.shed.unbranded == 0)
        #expect(ring.filling < OutcomeRounds.crowded)
    }

    @Test func `a ledger that refuses gets the same batch again once a second, and stores it once`() throws {
        var rounds = try begun()
        let pages = try ledger.database.ledger.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try limit(pages)
        for number: UInt64 in 2...20 { play(number) }
        rounds.round()
        #expect(ledger.recorder.totals.problem == nil)
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(
            ledger.recorder.totals.problem == "the disk of \(ledger.database.ledgerFile.path) is full; free space on it"
        )
        play(21)
        rounds.round()
        // Not again and again: it would be the whole batch each time.
        #expect(ledger.recorder.totals.failures == 1)
        #expect(ledger.ring.released == 3)
        try limit(1_000_000)
        rounds.round()
        #expect(ledger.recorder.totals.problem != nil)
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(ledger.recorder.totals.problem == nil)
        rounds.round()
        rounds.storeAll()
        #expect(try ledger.calls().count == 21)
        #expect(Set(try ledger.keys()).count == 42)
    }

    @Test func `a slot nobody finished, with a ledger that refuses, holds up nothing afterwards`() throws {
        try ledger.restart { ring in
            // Claimed by a process that died before it wrote anything.
            let file = try FileHandle(forUpdating: URL(filePath: ring))
            try file.seek(toOffset: 64)
            try file.write(contentsOf: withUnsafeBytes(of: UInt64(1)) { Data($0) })
            try file.close()
        }
        var rounds = OutcomeRounds(ledger.recorder)
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER stop BEFORE INSERT ON ring_position BEGIN SELECT RAISE(ABORT, 'stopped'); END
                    """)
        }
        try limit(ledger.database.ledger.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 })
        rounds.round()
        #expect(ledger.recorder.totals.problem != nil)
        try ledger.database.ledger.write { try $0.execute(sql: "DROP TRIGGER stop") }
        ledger.clock.advance(seconds: 1)
        play(1)
        rounds.round()
        rounds.round()
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(ledger.recorder.totals.problem == nil)
        #expect(try ledger.calls().count == 1)
    }

    @Test func `while old rows go, updates are stored`() throws {
        let rounds = try begun()
        for number: UInt64 in 2...1_200 {
            play(number)
            if number.isMultiple(of: 50) { rounds.storeAll() }
        }
        rounds.storeAll()
        try ledger.database.ledger.write { try $0.execute(sql: "UPDATE event SET state = 1, settled_at = 1") }
        ledger.clock.advance(seconds: 200 * 86_400)
        var released: [UInt64] = []
        try ledger.recorder.prune {
            play(5_000 + UInt64(released.count))
            _ = try? ledger.recorder.drain()
            released.append(ledger.ring.released)
            return true
        }
        #expect(released.count > 4)
        #expect(released == released.sorted() && Set(released).count == released.count)
    }

    @Test func `a recorder that is stopped has stored every signal`() async throws {
        let recorder = ledger.recorder
        let running = Task { await recorder.run() }
        play(1)
        #expect(try await waits { recorder.totals.updates == 3 })
        // The clock of the test stands still: no second passes before the stop.
        play(2)
        running.cancel()
        await running.value
        #expect(try ledger.calls().count == 2)
        #expect(ledger.ring.released == 6)
    }

    private func limit(_ pages: Int) throws {
        try ledger.database.ledger.write { _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages)") }
    }
}
