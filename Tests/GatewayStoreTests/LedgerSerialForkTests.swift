// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

/// RFC 3261 §16.5: a proxy may send a request to its targets "serially (waiting for a final response … before the next)";
/// Call-ID and From tag stay what they were (§16.6).
@Suite("Recorder: one destination is asked after another")
struct LedgerSerialForkTests {
    private let ledger: LedgerFixture
    private let first: ScriptedCall

    init() throws {
        ledger = try LedgerFixture()
        first = ScriptedCall(ledger.ring, 1)
    }

    /// The same name, so many numbers further.
    private func leg(_ further: UInt64) -> ScriptedCall {
        var leg = ScriptedCall(ledger.ring, 1)
        leg.destination += further
        return leg
    }

    @Test(arguments: [false, true])
    func `each destination has its account and its events, over a restart too`(restarts: Bool) throws {
        first.invite()
        first.rings(at: 1)
        first.failed(480, at: 3)
        if restarts {
            try ledger.recorder.drain()
            try ledger.restart()
        }
        leg(1).invite(at: 3)
        leg(1).rings(at: 4)
        if restarts {
            try ledger.recorder.drain()
            try ledger.restart()
        }
        leg(1).answered(at: 8)
        leg(1).bye(at: 20)
        try ledger.recorder.drain()
        let rows = try ledger.calls()
        #expect(rows.map(\.outcome) == ["MISSED", "ANSWERED"])
        #expect(rows.map(\.sipCallID) == ["c1@carrier", "c1@carrier"])
        #expect(rows.map(\.latestSIPCallID) == [nil, nil])
        #expect(rows.first?.callID == first.id.description)
        let own = try #require(rows.last?.callID)
        #expect(own == first.id.toward("+61291234568").description)
        #expect(
            try ledger.keys() == [
                "displayed:\(first.id)", "missed:\(first.id)", "displayed:\(own)", "call_seen:\(own)",
            ])
    }

    @Test func `a third is asked when the first is long over`() throws {
        first.missed()
        leg(1).missed(from: 31)
        ledger.clock.advance(seconds: 64)
        try ledger.recorder.drain()
        leg(2).missed(from: 64)
        ledger.clock.advance(seconds: 40)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "MISSED", "MISSED"])
        #expect(Set(try ledger.keys()).count == 6)
    }

    /// The proxy gives up on a phone with CANCEL and does not wait for its 487.
    @Test func `the next destination may be asked before the last has confirmed its CANCEL`() throws {
        first.invite()
        first.rings(at: 1)
        first.cancelled(at: 20)
        leg(1).invite(at: 20)
        leg(1).answered(at: 22)
        leg(1).bye(at: 60)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "ANSWERED"])
        #expect(try ledger.calls().map(\.ringSeconds) == [19, nil])
    }

    @Test func `a call that waits for the carrier's next try ends where another destination is asked`() throws {
        let ledger = try LedgerFixture { $0.limits.redial = 5_000_000 }
        ScriptedCall(ledger.ring, 1).invite()
        ScriptedCall(ledger.ring, 1).failed(503, at: 1)
        var next = ScriptedCall(ledger.ring, 1)
        next.destination += 1
        next.invite(at: 2)
        next.failed(503, at: 3)
        // And this one by the carrier again, under a name of its own.
        var again = ScriptedCall(ledger.ring, 2, like: next)
        again.sipCallID = "c2@carrier"
        again.invite(at: 4)
        again.answered(at: 6)
        again.bye(at: 9)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["FAILED", "ANSWERED"])
        #expect(try ledger.calls().map(\.attempts) == [1, 2])
        #expect(try ledger.calls().map(\.latestSIPCallID) == [nil, "c2@carrier"])
    }

    @Test(arguments: ["repeated", "the second repeated", "to nobody known", "forked at once", "asked again by 302"])
    func `anything else begins no other call`(what: String) throws {
        first.invite()
        first.rings(at: 1)
        switch what {
        case "repeated":
            first.failed(480, at: 2)
            first.invite(at: 3)
        case "the second repeated":
            first.failed(480, at: 2)
            leg(1).missed(from: 3)
            first.invite(at: 35)
            leg(1).invite(at: 35)
        case "to nobody known":
            first.failed(480, at: 2)
            var nobody = first
            (nobody.destination, nobody.subscriber) = (0, "")
            nobody.invite(at: 3)
        case "forked at once":
            leg(1).invite(at: 1)
            first.failed(480, at: 2)
        default:
            // RFC 3261 §8.1.3.4: the caller itself goes where it was sent.
            first.failed(302, at: 2)
            leg(1).invite(at: 3)
            first.failed(480, at: 4)
        }
        try ledger.recorder.drain()
        let calls = what == "the second repeated" ? 2 : 1
        #expect(try ledger.calls().map(\.outcome) == Array(repeating: "MISSED", count: calls))
    }
}
