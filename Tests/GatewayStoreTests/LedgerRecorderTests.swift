// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import Synchronization
import Testing

@testable import GatewayStore

@Suite("Recorder: from signals to calls and events")
struct LedgerRecorderTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    @Test func `each transaction is reported once it is stored`() throws {
        let freed = Mutex<[UInt64]>([])
        ledger.recorder.onStored { [ring = ledger.ring] in freed.withLock { $0.append(ring.released) } }
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        try ledger.recorder.drain()
        #expect(freed.withLock { $0 } == [3])
    }

    @Test func `a branded answered call is one row and two events`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        call.answered(at: 9)
        call.bye(at: 69)
        #expect(try ledger.recorder.drain() == .init(updates: 4, calls: 1, events: 2, skipped: 0))

        let row = try #require(try ledger.calls().first)
        #expect(row.callID == call.id.description)
        #expect(row.sipCallID == "c1@carrier")
        #expect(row.direction == "inbound")
        #expect(row.trunk == "carrier")
        #expect(row.caller == "+4930123456")
        #expect(row.destination == "+61291234567")
        #expect(row.subscriber == "1001")
        #expect(row.brandID == "b-7")
        #expect(row.brandName == "Acme \"Bank\"")
        #expect(row.decision == "matched")
        #expect(row.outcome == "ANSWERED")
        #expect(row.ringSeconds == 7)
        #expect(row.callSeconds == 60)
        #expect(row.events.map(\.key) == ["displayed:\(call.id)", "call_seen:\(call.id)"])
        #expect(row.events.allSatisfy { $0.state == .waiting })
    }

    @Test func `an open call with a decision that this version does not know is unbranded after a restart`() throws {
        var call = ScriptedCall(ledger.ring, 1)
        call.reason = .policy
        call.invite()
        try ledger.recorder.drain()
        try ledger.database.ledger.write {
            try $0.execute(sql: "UPDATE call SET decision = 'a_reason_of_another_version'")
        }
        try ledger.restart()
        try ledger.recorder.drain()
        let reopened = ScriptedCall(ledger.ring, 1)
        reopened.rings(at: 1)
        reopened.answered(at: 3)
        reopened.bye(at: 9)
        try ledger.recorder.drain()
        #expect(try ledger.keys().isEmpty)
        let row = try #require(try ledger.calls().first)
        #expect(row.decision != "matched")
        #expect(row.outcome == "ANSWERED")
    }

    @Test func `unknown callers are reported once their call has ended, withheld and branded ones never`() throws {
        let told = Mutex<[String]>([])
        ledger.recorder.onUnknownCaller { number, customer in
            told.withLock { $0.append(number.description + (customer ?? "")) }
        }
        let reasons: [PassThroughReason?] = [.noMatch, .privacy, .untrusted, .numberUnclear, nil, .gatedCapReached]
        var calls = reasons.enumerated().map { position, reason in
            var call = ScriptedCall(ledger.ring, UInt64(position))
            call.reason = reason
            call.caller = 61_491_570_150 + UInt64(position)
            return call
        }
        var outbound = ScriptedCall.outbound(ledger.ring, 99)
        outbound.caller = 61_491_570_199
        calls.append(outbound)
        for call in calls { call.invite() }
        try ledger.recorder.drain()
        #expect(told.withLock { $0 }.isEmpty, "nobody is asked while the phone rings")
        for call in calls { call.failed(480, at: 31) }
        try ledger.recorder.drain()
        try ledger.recorder.drain()
        #expect(told.withLock { $0 } == ["+61491570150"])
    }

    @Test func `a call reported in pieces ends as the same row and events`() throws {
        let other = try LedgerFixture()
        for (fixture, stops) in [(ledger, true), (other, false)] {
            let call = ScriptedCall(fixture.ring, 1)
            for step in [{ call.invite() }, { call.rings(at: 2) }, { call.answered(at: 9) }, { call.bye(at: 69) }] {
                step()
                if stops { try fixture.recorder.drain() }
            }
            try fixture.recorder.drain()
        }
        #expect(try ledger.rows() == other.rows())
    }

    @Test func `a call in progress is a row of its own kind`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        try ledger.recorder.drain()
        var filter = CallFilter()
        filter.outcome = "OPEN"
        #expect(try ledger.calls(filter).count == 1)
        #expect(ledger.recorder.totals.openCalls == 1)
        #expect(try ledger.keys() == ["displayed:\(call.id)"])
    }

    @Test func `an unbranded call is recorded and says nothing`() throws {
        var call = ScriptedCall(ledger.ring, 1)
        call.reason = .noMatch
        call.missed()
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED"])
        #expect(try ledger.calls().map(\.decision) == ["no_match"])
        #expect(try ledger.keys() == [])
    }

    @Test func `a gated call says so once, at its INVITE`() throws {
        var call = ScriptedCall(ledger.ring, 1)
        call.reason = .gatedCapReached
        call.missed()
        try ledger.recorder.drain()
        #expect(try ledger.keys() == ["branding_disabled:\(call.id)"])
    }

    @Test func `a withheld caller appears in no column of any table`() throws {
        var call = ScriptedCall(ledger.ring, 1)
        call.reason = .privacy
        call.missed()
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.caller) == [nil])
        #expect(try ledger.rows().contains { $0.contains("4930123456") } == false)
        #expect(try ledger.keys() == [])
    }

    @Test func `a BYE from the called side finds its call`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.answered(at: 3)
        ledger.ring.append(
            CallUpdate(
                kind: .bye, direction: .inbound, call: CallIdentifier(high: 9, low: 9),
                counterpart: .callIfSentByCallee(call.id),
                wallMicroseconds: LedgerFixture.Clock.start + 8_000_000))
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["ANSWERED"])
        #expect(try ledger.calls().map(\.callSeconds) == [5])
    }

    @Test func `repetitions of a call that ended begin no new one`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.missed()
        call.invite(at: 32)
        call.bye(at: 32)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 1)
        #expect(ledger.recorder.totals.unclaimed == 2)
    }

    @Test func `a repetition after a restart with the clock set back begins no call either`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: -86_400)
        try ledger.restart()
        ScriptedCall(ledger.ring, 1).invite(at: 1 - 86_400)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 1)
    }

    @Test func `a repetition while running, after the clock was set back, begins no call for its 32 s`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: -86_400)
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 1).invite(at: 1 - 86_400)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 1)
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 1).invite(at: 61 - 86_400)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 2)
    }

    @Test func `signals of a call whose INVITE was shed are counted and make nothing`() throws {
        ScriptedCall(ledger.ring, 1).answered(at: 1)
        ScriptedCall(ledger.ring, 1).bye(at: 2)
        try ledger.recorder.drain()
        #expect(try ledger.rows() == [])
        #expect(ledger.recorder.totals.unclaimed == 2)
    }

    @Test func `an answered call whose BYE never comes is closed by the clock`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.rings(at: 2)
        call.answered(at: 5)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 14_404)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == [nil])
        ledger.clock.advance(seconds: 6)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "ANSWERED")
        #expect(row.ringSeconds == 3)
        #expect(row.callSeconds == nil)
        #expect(try ledger.keys() == ["displayed:\(call.id)", "call_seen:\(call.id)"])
        #expect(ledger.recorder.totals.openCalls == 0)
    }

    @Test func `more updates than one transaction takes are drained in several`() throws {
        for number in 1...20 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        #expect(try ledger.recorder.drain(limit: 50).updates == 50)
        #expect(try ledger.recorder.drain(limit: 50).updates == 10)
        #expect(try ledger.recorder.drain(limit: 50).updates == 0)
        #expect(try ledger.calls().count == 20)
        #expect(ledger.ring.released == 60)
    }

    @Test func `the running recorder stores what comes and what is left when it stops`() async throws {
        let recorder = ledger.recorder
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        let task = Task { await recorder.run() }
        call.rings(at: 1)
        while recorder.totals.openCalls == 0 { try await Task.sleep(for: .milliseconds(1)) }
        call.failed(480, at: 31)
        task.cancel()
        await task.value
        #expect(try ledger.calls().map(\.outcome) == ["MISSED"])
        #expect(try ledger.keys().count == 2)
    }
}
