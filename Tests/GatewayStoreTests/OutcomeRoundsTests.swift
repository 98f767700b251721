// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Gateway
import Testing

@testable import GatewayStore

@Suite("Recorder: kept at once, stored once a second")
struct OutcomeRoundsTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture { $0.logSize = 1 << 20 } }

    private func play(_ number: UInt64) { LedgerPlay(ledger.ring, number).missed() }

    /// Rounds of a recorder whose first call is stored and that has begun to keep signals.
    private func begun() throws -> OutcomeRounds {
        var rounds = OutcomeRounds(ledger.recorder)
        play(1)
        rounds.round()
        #expect(try ledger.calls().count == 1)
        return rounds
    }

    @Test func `where nothing was told for a second, the next call is stored at once`() throws {
        var rounds = try begun()
        ledger.clock.advance(seconds: 5)
        rounds.round()
        play(2)
        rounds.round()
        #expect(try ledger.calls().count == 2)
    }

    @Test func `within a second signals are kept, their slots are free, and rows come after it`() throws {
        var rounds = try begun()
        play(2)
        rounds.round()
        #expect(try ledger.calls().count == 1)
        #expect(ledger.ring.released == 6)
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "MISSED"])
        #expect(try ledger.keys().count == 4)
        #expect(ledger.recorder.totals.signals == 6)
    }

    @Test func `a call that changes in several rounds of a second is one row`() throws {
        var rounds = try begun()
        let call = LedgerPlay(ledger.ring, 2)
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

    @Test func `a full log is stored before its time`() throws {
        var rounds = try begun()
        for number in 2...8_000 {
            // 256 slots: what a round does not take is not there for the next.
            LedgerPlay(ledger.ring, UInt64(number)).invite()
            if number.isMultiple(of: 100) { rounds.round() }
        }
        rounds.round()
        #expect(try ledger.calls().count > 1)
        rounds.storeAll()
        #expect(ledger.recorder.totals.signals == 3 + 7_999)
        #expect(ledger.ring.shed.branded == 0)
    }

    @Test func `with the ledger refusing, what was kept is stored when it takes things again, once`() throws {
        var rounds = try begun()
        let pages = try ledger.database.ledger.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try limit(pages)
        for number: UInt64 in 2...40 { play(number) }
        rounds.round()
        #expect(ledger.recorder.totals.problem == nil)
        ledger.clock.advance(seconds: 1)
        rounds.round()
        #expect(ledger.recorder.totals.problem != nil)
        play(41)
        rounds.round()
        #expect(ledger.recorder.totals.failures == 2)
        #expect(ledger.ring.released == 120)
        try limit(1_000_000)
        rounds.round()
        #expect(ledger.recorder.totals.problem == nil)
        rounds.round()
        rounds.storeAll()
        #expect(try ledger.calls().count == 41)
        #expect(Set(try ledger.keys()).count == 82)
    }

    @Test func `where the log cannot be made, every round stores at once`() throws {
        let path = ledger.folder + "/herald.signals"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try ledger.restart()
        var rounds = OutcomeRounds(ledger.recorder)
        for number: UInt64 in 1...3 {
            play(number)
            rounds.round()
            #expect(try ledger.calls().count == Int(number))
        }
        #expect(ledger.recorder.totals.problem == nil)
    }

    @Test func `a recorder that is stopped has stored all it kept`() async throws {
        let recorder = ledger.recorder
        let running = Task { await recorder.run() }
        play(1)
        while recorder.totals.signals < 3 { try await Task.sleep(for: .milliseconds(5)) }
        // The clock of the test stands still: from here on signals are only kept.
        play(2)
        while ledger.ring.released < 6 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try ledger.calls().count == 1)
        running.cancel()
        await running.value
        #expect(try ledger.calls().count == 2)
    }

    private func limit(_ pages: Int) throws {
        try ledger.database.ledger.write { _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages)") }
    }
}
