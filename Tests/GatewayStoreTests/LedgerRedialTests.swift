// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Recorder: a carrier that tries again with another Call-ID")
struct LedgerRedialTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture { $0.limits.redial = 5_000_000 } }

    private func second(_ change: (inout ScriptedCall) -> Void = { _ in }) -> ScriptedCall {
        var play = ScriptedCall(ledger.ring, 2)
        play.sipCallID = "c2@carrier"
        change(&play)
        return play
    }

    @Test(arguments: [false, true])
    func `two attempts are one call and one set of events, over a restart too`(restarts: Bool) throws {
        let first = ScriptedCall(ledger.ring, 1)
        first.invite()
        first.failed(503, at: 1)
        try ledger.recorder.drain()
        #expect(try ledger.keys() == [])
        if restarts { try ledger.restart() }
        ScriptedCall(ledger.ring, 2, sipCallID: "c2@carrier").invite(at: 3)
        try ledger.recorder.drain()
        if restarts { try ledger.restart() }
        // A repeated response to the first attempt does not concern the second.
        ScriptedCall(ledger.ring, 1).failed(503, at: 3)
        let again = ScriptedCall(ledger.ring, 2)
        again.rings(at: 4)
        again.answered(at: 8)
        again.bye(at: 20)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(try ledger.calls().count == 1)
        #expect(row.callID == first.id.description)
        #expect(row.attempts == 2)
        #expect(row.outcome == "ANSWERED")
        #expect(row.sipCallID == "c1@carrier")
        #expect(row.latestSIPCallID == "c2@carrier")
        #expect(row.events.map(\.key) == ["displayed:\(first.id)", "call_seen:\(first.id)"])
        #expect(try OutboxMeta.decode(try #require(row.events.last).meta).attempts == 2)
        var filter = CallFilter()
        filter.callID = "c2@carrier"
        #expect(try ledger.calls(filter).count == 1)
    }

    @Test func `a third attempt is the same call still`() throws {
        for number in 1...3 {
            let play = ScriptedCall(ledger.ring, UInt64(number))
            play.invite(at: Int64(number) * 3)
            play.failed(500, at: Int64(number) * 3 + 1)
        }
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.attempts) == [3])
        #expect(try ledger.calls().map(\.outcome) == ["FAILED"])
        #expect(try ledger.keys() == ["error:\(ScriptedCall(ledger.ring, 1).id)"])
    }

    @Test(arguments: [
        "too late", "the clock was set back", "another caller", "another called", "another decision", "a phone rang",
        "busy",
    ])
    func `anything else is a call of its own`(what: String) throws {
        let first = ScriptedCall(ledger.ring, 1)
        first.invite()
        if what == "a phone rang" { first.rings(at: 1) }
        first.failed(what == "busy" ? 486 : 503, at: 1)
        let next = second { play in
            if what == "another caller" { play.caller += 1 }
            if what == "another called" { play.destination += 1 }
            if what == "another decision" { play.reason = .noMatch }
        }
        next.invite(at: what == "too late" ? 6 : what == "the clock was set back" ? -60 : 2)
        next.failed(503, at: 7)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.attempts) == [1, 1])
    }

    @Test func `withheld callers may be two people`() throws {
        for number in 1...2 {
            var play = ScriptedCall(ledger.ring, UInt64(number))
            play.reason = .privacy
            play.invite(at: Int64(number))
            play.failed(503, at: Int64(number))
        }
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.attempts) == [1, 1])
        #expect(try ledger.calls().map(\.outcome) == ["FAILED", "FAILED"])
    }

    @Test func `marks and session of an open call survive a restart`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite(marks: .forwarded)
        call.rings(at: 1)
        call.answered(at: 5, marks: .voicemail, session: 600)
        try ledger.recorder.drain()
        try ledger.restart()
        ledger.clock.advance(seconds: 640)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "MISSED")
        #expect(row.answeredBy == "voicemail")
        #expect(row.isForwarded)
        #expect(try ledger.keys() == ["displayed:\(call.id)", "missed:\(call.id)"])
    }
}
