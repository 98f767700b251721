// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
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
        let call = ScriptedCall(ledger.ring, 1)
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
    func `an update from before the clock was set keeps its time when it is read afterwards`(step: Int64) throws {
        try ledger.recorder.drain()
        let call = ScriptedCall(ledger.ring, 1)
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
        let call = ScriptedCall(ledger.ring, 1)
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

    @Test func `a call of the right clock before a start with a wrong one waits no longer for its end`() throws {
        let call = ScriptedCall(ledger.ring, 1)
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

    @Test func `an update long after the clock was set, while the ledger refuses, keeps its time`() throws {
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 1).invite()
        try ledger.database.ledger.write { try $0.execute(sql: "ALTER TABLE call RENAME TO away") }
        #expect(throws: (any Error).self) { try ledger.recorder.drain() }
        ledger.clock.set(by: -3_600)
        #expect(throws: (any Error).self) { try ledger.recorder.drain() }
        ledger.clock.advance(seconds: 2_000)
        ScriptedCall(ledger.ring, 2).invite(at: 2_000 - 3_600)
        try ledger.database.ledger.write { try $0.execute(sql: "ALTER TABLE away RENAME TO call") }
        for _ in 0..<3 { try ledger.recorder.drain() }
        #expect(try ledger.calls().last?.outcome == nil)
        ledger.clock.advance(seconds: 899)
        try ledger.recorder.drain()
        #expect(try ledger.calls().last?.outcome == nil)
    }

    @Test func `a update that waited in the ring is of before, however little the clock was set by`() throws {
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 1).invite()
        ledger.clock.advance(seconds: 2)
        ledger.recorder.look()
        ledger.clock.set(by: -2)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.inviteAt) == [LedgerFixture.Clock.start - 2_000_000])
    }

    @Test func `each update moves with every step of the clock after it`() throws {
        try ledger.recorder.drain()
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        ledger.recorder.look()
        ledger.clock.set(by: 3_600)
        ledger.recorder.look()
        ledger.clock.advance(seconds: 1)
        call.rings(at: 3_601)
        ledger.recorder.look()
        ledger.clock.set(by: -7_200)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.inviteAt == LedgerFixture.Clock.start - 3_600_000_000)
        #expect(row.ringingAt == LedgerFixture.Clock.start - 3_599_000_000)
    }

    private func returns() throws -> [LedgerEventRow] { try ledger.events().filter { $0.outcome == "returned" } }

    @Test(arguments: steps)
    func `a call back is a return of the call that ended before the clock was set`(step: Int64) throws {
        let missed = ScriptedCall(ledger.ring, 1)
        missed.missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 40)
        ledger.clock.set(by: step)
        try ledger.recorder.drain()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 51 + step)
        back.rings(at: 52 + step)
        ledger.clock.advance(seconds: 12)
        try ledger.recorder.drain()
        let event = try #require(try returns().first)
        #expect(event.key == "returned:\(missed.id)")
        #expect(try OutboxMeta.decode(event.meta).returnCallLatency == 20, "31 s to 51 s by a clock nobody sets")
    }

    @Test func `a call back is no return once the window is over, whatever the clock was set by`() throws {
        ledger.settings.returns.window = 3_600
        try ledger.restart()
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 4_000)
        ledger.clock.set(by: -3_600)
        try ledger.recorder.drain()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 400)
        back.rings(at: 401)
        ledger.clock.advance(seconds: 2)
        try ledger.recorder.drain()
        #expect(try returns().isEmpty)
    }

    @Test func `after a return the older calls of the pair are settled across the step`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 40)
        ledger.clock.set(by: -3_600)
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 2).missed(from: 50 - 3_600)
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        for (number, second) in [(3, Int64(100)), (4, 200)] {
            let back = ScriptedCall.outbound(ledger.ring, UInt64(number))
            back.invite(at: second - 3_600)
            back.rings(at: second + 1 - 3_600)
            back.bye(at: second + 2 - 3_600)
            ledger.clock.advance(seconds: 100)
            try ledger.recorder.drain()
        }
        #expect(try returns().map(\.callID) == [ScriptedCall(ledger.ring, 2).id.description])
    }

    @Test func `an update right after a look at the clock waits for the next look`() throws {
        // The clock is set while the ring is read: what comes then is told by another clock than the look was at.
        try ledger.recorder.drain()
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        ledger.clock.advance(seconds: 2)
        ledger.clock.afterNextRead = { [clock = ledger.clock, ring = ledger.ring] in
            clock.set(by: 3_600)
            ScriptedCall(ring, 1).answered(at: 2 + 3_600)
        }
        try ledger.recorder.drain()
        try ledger.recorder.drain()
        call.bye(at: 12 + 3_600)
        ledger.clock.advance(seconds: 10)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.ringSeconds == 0 && row.callSeconds == 10)
    }

    @Test(arguments: [3_600, -3_600] as [Int64])
    func `a ringing call is not overdue where the clock is set right after it was looked at`(step: Int64) throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 3)
        ledger.clock.afterNextRead = { [clock = ledger.clock] in clock.set(by: step) }
        for _ in 0..<3 { try ledger.recorder.drain() }
        #expect(try ledger.calls().map(\.outcome) == [nil])
    }
}
