// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Recorder: returned calls")
struct LedgerReturnTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    private func returns() throws -> [LedgerEventRow] { try ledger.events().filter { $0.outcome == "returned" } }

    @Test func `a missed branded call that is called back is returned when the call back rings`() async throws {
        let missed = ScriptedCall(ledger.ring, 1)
        missed.missed()
        try ledger.recorder.drain()
        let outbox = EventOutboxStore(ledger.database)
        try await outbox.markDelivered(
            key: "missed:\(missed.id)", receipt: EventReceipt(eventID: "evt-9", counted: true),
            now: LedgerFixture.Clock.start / 1_000_000)

        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 631)
        try ledger.recorder.drain()
        #expect(try returns().isEmpty)
        back.rings(at: 633)
        try ledger.recorder.drain()
        let event = try #require(try returns().first)
        #expect(event.key == "returned:\(missed.id)")
        #expect(event.callID == missed.id.description)
        #expect(event.number == "+4930123456")
        let meta = try OutboxMeta.decode(event.meta)
        #expect(meta.callEventID == missed.id.description)
        #expect(meta.returnCallDetected == true)
        #expect(meta.returnCallLatency == 600)
        #expect(meta.callerNumber == "+61291234567")
        #expect(meta.destinationNumber == "+4930123456")
        #expect(meta.originalEventID == "evt-9")
        #expect(meta.brandingProfileID == "b-7")
        let rows = try ledger.calls()
        #expect(rows.map { $0.events.last?.outcome } == ["returned", "returned"])
        #expect(rows[0].returnedAt == LedgerFixture.Clock.start + 631_000_000)
        #expect(rows[1].returnedAt == nil)
    }

    @Test func `an extension that calls out with the pilot number returns calls to its direct number`() throws {
        let ledger = try LedgerFixture {
            $0.returns.groups = ["1001": "sales", "+61291234567": "sales", "+61290000000": "sales"]
        }
        let missed = ScriptedCall(ledger.ring, 1)
        missed.missed()
        var back = ScriptedCall.outbound(ledger.ring, 2)
        back.subscriber = "trunk-user"
        back.caller = 61_290_000_000
        back.invite(at: 40)
        back.rings(at: 41)
        var stranger = ScriptedCall.outbound(ledger.ring, 3)
        stranger.subscriber = "2002"
        stranger.caller = 61_290_000_009
        stranger.invite(at: 50)
        stranger.rings(at: 51)
        try ledger.recorder.drain()
        #expect(try ledger.keys().filter { $0.hasPrefix("returned") } == ["returned:\(missed.id)"])
    }

    @Test func `original and return in one round are matched`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 40)
        back.answered(at: 41)
        try ledger.recorder.drain()
        #expect(try returns().count == 1)
    }

    @Test func `only the newest original is returned, and once`() throws {
        ScriptedCall(ledger.ring, 1).missed(from: 0)
        let newest = ScriptedCall(ledger.ring, 2)
        newest.missed(from: 100)
        for (number, second) in [(3, 200), (4, 300)] as [(UInt64, Int64)] {
            let back = ScriptedCall.outbound(ledger.ring, number)
            back.invite(at: second)
            back.rings(at: second + 1)
            back.answered(at: second + 2)
            back.bye(at: second + 3)
            try ledger.recorder.drain()
        }
        #expect(try returns().map(\.key) == ["returned:\(newest.id)"])
    }

    @Test func `a new miss after a return can be returned again`() throws {
        for round in [0, 1] as [UInt64] {
            let second = Int64(round) * 1000
            ScriptedCall(ledger.ring, 10 + round).missed(from: second)
            let back = ScriptedCall.outbound(ledger.ring, 20 + round)
            back.invite(at: second + 100)
            back.rings(at: second + 101)
            try ledger.recorder.drain()
        }
        #expect(try returns().count == 2)
    }

    @Test(arguments: [(259_200, 1), (259_201, 0)] as [(Int64, Int)])
    func `the window is 72 hours from the end of the original`(after: Int64, count: Int) throws {
        ScriptedCall(ledger.ring, 1).missed()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 31 + after)
        back.rings(at: 31 + after)
        try ledger.recorder.drain()
        #expect(try returns().count == count)
    }

    @Test func `another subscriber's call to the brand is no return`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        var back = ScriptedCall.outbound(ledger.ring, 2)
        back.caller = 61_299_999_999
        back.invite(at: 60)
        back.rings(at: 61)
        var unknown = ScriptedCall.outbound(ledger.ring, 3)
        unknown.caller = 0
        unknown.subscriber = ""
        unknown.invite(at: 60)
        unknown.rings(at: 61)
        try ledger.recorder.drain()
        #expect(try returns().isEmpty)
    }

    @Test func `a call back that reaches nobody is no return`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 60)
        back.failed(486, at: 61)
        try ledger.recorder.drain()
        #expect(try returns().isEmpty)
    }

    @Test(arguments: [(ReturnPolicy.Originals.unanswered, 0), (.any, 1)])
    func `answered originals count only by option`(originals: ReturnPolicy.Originals, count: Int) throws {
        let ledger = try LedgerFixture { $0.returns.originals = originals }
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        call.answered(at: 5)
        call.bye(at: 10)
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 60)
        back.rings(at: 61)
        try ledger.recorder.drain()
        #expect(try ledger.events().filter { $0.outcome == "returned" }.count == count)
    }

    @Test func `an extension that was called by its number returns through its group`() throws {
        let ledger = try LedgerFixture { $0.returns.groups = ["+61291234567": "sales", "1001": "sales"] }
        ScriptedCall(ledger.ring, 1).missed()
        var back = ScriptedCall.outbound(ledger.ring, 2)
        back.caller = 0
        back.invite(at: 60)
        back.rings(at: 61)
        try ledger.recorder.drain()
        #expect(try ledger.events().filter { $0.outcome == "returned" }.count == 1)
    }

    @Test func `a return after a restart finds its original in the ledger`() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        try ledger.restart()
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 100)
        try ledger.recorder.drain()
        try ledger.restart()
        ScriptedCall.outbound(ledger.ring, 2).rings(at: 103)
        try ledger.recorder.drain()
        #expect(try returns().count == 1)
    }
}
