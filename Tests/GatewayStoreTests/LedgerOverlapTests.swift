// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

@testable import GatewayStore

/// RFC 3578 §3.2: each INVITE of overlap dialling has the Call-ID and From tag of the first, and more digits in its
/// Request-URI; 484 says that they are too few (RFC 3261 §21.4.22).
@Suite("Recorder: digits that come one after the other")
struct LedgerOverlapTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    /// The INVITE with the digits dialled so far; a number only where they are one.
    private func dialled(_ digits: String, _ number: UInt64 = 0, direction: CallUpdate.Direction = .inbound)
        -> ScriptedCall
    {
        var play = direction == .inbound ? ScriptedCall(ledger.ring, 1) : ScriptedCall.outbound(ledger.ring, 1)
        play.destination = number
        if direction == .inbound { play.subscriber = digits }
        return play
    }

    @Test(arguments: [false, true])
    func `it is one call with an attempt for each 484, over a restart too`(restarts: Bool) throws {
        let steps = [("025550", 0), ("0255502", 0), ("0255502000", 61_255_502_000)] as [(String, UInt64)]
        for (place, step) in steps.enumerated() {
            let play = dialled(step.0, step.1)
            play.invite(at: Int64(place) * 4)
            if place < 2 { play.failed(484, at: Int64(place) * 4 + 1) }
            guard restarts else { continue }
            try ledger.recorder.drain()
            try ledger.restart()
        }
        let last = dialled("0255502000", 61_255_502_000)
        last.rings(at: 10)
        last.answered(at: 12)
        last.bye(at: 30)
        try ledger.recorder.drain()
        let rows = try ledger.calls()
        #expect(rows.map(\.outcome) == ["ANSWERED"])
        #expect(rows.first?.attempts == 3)
        #expect(rows.first?.destination == "+61255502000")
        #expect(rows.first?.subscriber == "0255502000")
        #expect(try ledger.keys() == ["displayed:\(last.id)", "call_seen:\(last.id)"])
    }

    @Test func `a call of the PBX, of which only numbers are kept, is one call too`() throws {
        for (second, number) in [(0, 0), (3, 6_125_550), (6, 61_255_502_000)] as [(Int64, UInt64)] {
            let play = dialled("", number, direction: .outbound)
            play.invite(at: second)
            if second < 6 { play.failed(484, at: second + 1) }
        }
        let last = dialled("", 61_255_502_000, direction: .outbound)
        last.rings(at: 8)
        last.answered(at: 9)
        last.bye(at: 12)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["ANSWERED"])
        #expect(try ledger.calls().first?.destination == "+61255502000")
        #expect(try ledger.calls().first?.attempts == 3)
    }

    @Test func `a 484 without a new INVITE fails the call, once`() throws {
        let call = dialled("025550")
        call.invite()
        call.failed(484, at: 1)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == [nil])
        ledger.clock.advance(seconds: 40)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["FAILED"])
        #expect(try ledger.keys() == ["error:\(call.id)"])
    }

    @Test func `another destination after a 484 is another call`() throws {
        let first = dialled("0255502000", 61_255_502_000)
        first.invite()
        first.failed(484, at: 1)
        let second = dialled("0291234567", 61_291_234_567)
        second.invite(at: 2)
        second.rings(at: 3)
        second.answered(at: 4)
        second.bye(at: 9)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["FAILED", "ANSWERED"])
        #expect(try ledger.calls().map(\.destination) == ["+61255502000", "+61291234567"])
    }

    @Test func `a late repetition of the first digits begins no other call`() throws {
        let first = dialled("025550")
        first.invite()
        first.failed(484, at: 1)
        let last = dialled("0255502000", 61_255_502_000)
        last.invite(at: 2)
        last.rings(at: 3)
        last.failed(480, at: 9)
        first.invite(at: 10)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED"])
    }
}
