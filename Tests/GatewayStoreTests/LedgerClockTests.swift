// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway
import Testing

@testable import GatewayStore

@Suite("Recorder: a clock that is set while calls are in progress")
struct LedgerClockTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    /// The first time server's word after a start, daylight taken for time, a machine that was wrong by years.
    static let steps: [Int64] = [1, -1, 30, -30, 3_600, -3_600, 86_400 * 365 * 5, -86_400 * 365 * 5]

    @Test(arguments: steps)
    func `a call rings and lasts as long as it did, whatever the clock was set by`(step: Int64) throws {
        let call = LedgerPlay(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 3)
        ledger.clock.set(by: step)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == [nil], "a ringing call is not overdue")
        call.answered(at: 10 + step)
        ledger.clock.advance(seconds: 7)
        try ledger.recorder.drain()
        call.bye(at: 70 + step)
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "ANSWERED")
        #expect(row.ringSeconds == 8)
        #expect(row.callSeconds == 60)
    }

    @Test(arguments: steps.filter { abs($0) > 20 })
    func `what was told before the clock was set and is read after it is of before`(step: Int64) throws {
        try ledger.recorder.drain()
        let call = LedgerPlay(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        ledger.clock.advance(seconds: 2)
        ledger.clock.set(by: step)
        call.answered(at: 2 + step)
        try ledger.recorder.drain()
        call.bye(at: 12 + step)
        ledger.clock.advance(seconds: 10)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "ANSWERED")
        #expect(row.ringSeconds == 0)
        #expect(row.callSeconds == 10)
    }

    @Test func `calls in progress have their new times in the ledger, for a start after a kill`() throws {
        let call = LedgerPlay(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 3)
        ledger.clock.set(by: 3_600)
        try ledger.recorder.drain()
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == [nil])
        ledger.clock.advance(seconds: 900)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED"], "fifteen minutes after its INVITE it is")
    }

    @Test func `a call the right clock told before a start with a wrong one waits no longer for its end`() throws {
        let call = LedgerPlay(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        // The machine comes up six hours behind, and is put right a minute later.
        ledger.clock.set(by: -21_600)
        try ledger.restart()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 60)
        ledger.clock.set(by: 21_600)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 900)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED"])
    }

    @Test func `what is told long after the clock was set, while the ledger refuses, keeps its time`() throws {
        try ledger.recorder.drain()
        LedgerPlay(ledger.ring, 1).invite()
        try ledger.database.ledger.write { try $0.execute(sql: "ALTER TABLE call RENAME TO away") }
        #expect(throws: (any Error).self) { try ledger.recorder.drain() }
        ledger.clock.set(by: -3_600)
        #expect(throws: (any Error).self) { try ledger.recorder.drain() }
        ledger.clock.advance(seconds: 2_000)
        LedgerPlay(ledger.ring, 2).invite(at: 2_000 - 3_600)
        try ledger.database.ledger.write { try $0.execute(sql: "ALTER TABLE away RENAME TO call") }
        for _ in 0..<3 { try ledger.recorder.drain() }
        #expect(try ledger.calls().last?.outcome == nil)
        ledger.clock.advance(seconds: 899)
        try ledger.recorder.drain()
        #expect(try ledger.calls().last?.outcome == nil)
    }
}
