// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import Testing

@testable import GatewayStore

/// A carrier rings several numbers of a company at once, as RFC 3261 §16.7 lets a proxy fork: Call-ID and From tag are the
/// same, the Request-URIs differ.
///
/// Seen as one INVITE by drachtio (issue 261) and sofia-sip (issue 227).
@Suite("Recorder: numbers that ring at once under one Call-ID")
struct LedgerCalledPartiesTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    /// The call to a number so many further; an extension without a number if `user` is given.
    private func leg(_ further: UInt64, user: String? = nil) -> ScriptedCall {
        var leg = ScriptedCall(ledger.ring, 1)
        leg.destination = user == nil ? leg.destination + further : 0
        leg.subscriber = user ?? "100\(1 + further)"
        return leg
    }

    private func callBack(_ number: UInt64, from caller: UInt64, at second: Int64) throws {
        var back = ScriptedCall.outbound(ledger.ring, number)
        (back.caller, back.subscriber) = (caller, "pbx")
        back.invite(at: second)
        back.rings(at: second + 1)
        back.failed(486, at: second + 2)
        try ledger.recorder.drain()
    }

    private func pause(_ restarts: Bool) throws {
        guard restarts else { return }
        try ledger.recorder.drain()
        try ledger.restart()
    }

    private func answered(_ leg: ScriptedCall, by name: String, at second: Int64) {
        var update = leg.update(.answered, second, 200)
        update.calledMark = leg.id.mark(ofCalled: name)
        leg.ring.append(update)
    }

    @Test(arguments: [0, 1, 2], [false, true])
    func `a missed call to three numbers is one call, and each of them may return it`(
        caller: UInt64, restarts: Bool
    ) throws {
        leg(0).invite()
        try pause(restarts)
        leg(1).invite(at: 0)
        leg(2).invite(at: 0)
        try pause(restarts)
        leg(0).rings(at: 1)
        leg(0).failed(480, at: 30)
        try pause(restarts)
        try callBack(7, from: leg(caller).destination, at: 100)
        let rows = try ledger.calls()
        #expect(rows.map(\.outcome) == ["MISSED", "REJECTED"])
        #expect(rows[0].destination == "+61291234567")
        #expect(rows[0].alsoCalled == ["+61291234568", "+61291234569"])
        #expect(rows[0].returnedAt == LedgerFixture.Clock.start + 100_000_000)
        #expect(try ledger.keys() == ["displayed", "missed", "returned"].map { "\($0):\(leg(0).id)" })
        // A second call back, of another number, returns nothing.
        try callBack(8, from: leg((caller + 1) % 3).destination, at: 200)
        #expect(try ledger.keys().count == 3)
    }

    @Test func `a number that was not called returns nothing`() throws {
        leg(0).invite()
        leg(1).invite()
        leg(0).rings(at: 1)
        leg(0).failed(480, at: 30)
        try callBack(7, from: leg(3).destination, at: 100)
        #expect(try ledger.keys().filter { $0.hasPrefix("returned") }.isEmpty)
    }

    @Test(arguments: [false, true])
    func `the number that answers is that of the account`(restarts: Bool) throws {
        leg(0).invite()
        leg(1).invite()
        try pause(restarts)
        answered(leg(0), by: "+61291234568", at: 5)
        try pause(restarts)
        leg(0).bye(at: 25)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.destination == "+61291234568" && row.subscriber == "1002" && row.alsoCalled == ["+61291234567"])
        #expect(row.callSeconds == 20)
        let end = try #require(try ledger.events().last)
        #expect(try OutboxMeta.decode(end.meta).destinationNumber == "+61291234568")
    }

    @Test func `extensions without a number are parties too`() throws {
        leg(0, user: "1001").invite()
        leg(0, user: "1002").invite()
        answered(leg(0), by: "1002", at: 5)
        leg(0).bye(at: 25)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.destination == nil && row.subscriber == "1002" && row.alsoCalled == ["1001"])
    }

    @Test(arguments: ["first", "unknown", "none"])
    func `otherwise the first number stays`(answerer: String) throws {
        leg(0).invite()
        leg(1).invite()
        switch answerer {
        case "first": answered(leg(0), by: "+61291234567", at: 5)
        case "unknown": answered(leg(0), by: "+61299999999", at: 5)
        default: leg(0).answered(at: 5)
        }
        leg(0).bye(at: 25)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.destination == "+61291234567" && row.alsoCalled == ["+61291234568"])
    }

    @Test(arguments: [false, true])
    func `a repeated INVITE of any of them begins no call, during the call and after it`(restarts: Bool) throws {
        leg(0).invite()
        leg(1).invite()
        leg(1).invite(at: 1)
        leg(0).rings(at: 1)
        leg(0).failed(480, at: 20)
        try pause(restarts)
        leg(1).invite(at: 21)
        leg(0).invite(at: 21)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.alsoCalled) == [["+61291234568"]])
    }

    @Test func `a number that the caller tries after a 302 takes the place of the first`() throws {
        leg(0).invite()
        leg(0).failed(302, at: 1)
        leg(1).invite(at: 2)
        leg(1).rings(at: 3)
        leg(1).failed(480, at: 9)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.destination == "+61291234568" && row.alsoCalled == ["+61291234567"] && row.attempts == 2)
    }

    @Test func `the call is found by each of its numbers`() throws {
        leg(0).invite()
        leg(1).invite()
        try ledger.recorder.drain()
        var filter = CallFilter()
        filter.number = E164Number("+61291234568")
        #expect(try ledger.calls(filter).count == 1)
        filter.number = E164Number("+6129123456")
        #expect(try ledger.calls(filter).isEmpty, "a beginning of the number is another number")
        (filter.number, filter.numberEnd) = (nil, "4568")
        #expect(try ledger.calls(filter).count == 1)
    }

    @Test func `a call of many numbers stays bounded`() throws {
        for number in UInt64(0)..<100 { leg(number).invite() }
        try ledger.recorder.drain()
        #expect(try ledger.calls().map { $0.alsoCalled?.count } == [31])
    }

    /// A sibling gateway has no number in its reports, only the mark.
    @Test func `a sibling reports which number answered, and no number`() throws {
        leg(0).invite()
        leg(1).invite()
        var update = leg(0).update(.answered, 5, 200)
        update.calledMark = leg(0).id.mark(ofCalled: "+61291234568")
        let received = try #require(CallUpdate(bytes: update.bytes))
        #expect(received.destination == 0 && received.calledMark == update.calledMark)
        _ = ledger.recorder.cluster.take([ForeignUpdate(seenHere: received)])
        leg(0).bye(at: 25)
        try ledger.recorder.drain()
        #expect(try ledger.calls().first?.destination == "+61291234568")
    }

    @Test func `a gateway that takes the call over has all its numbers`() throws {
        leg(0).invite()
        leg(1).invite()
        try ledger.recorder.drain()
        let row = try ledger.database.ledger.read { database in
            try LedgerState(database, ringID: 0, CallStateMachine.Limits())
        }
        #expect(row.calls.first?.machine.record.parties.map(\.name) == ["+61291234567", "+61291234568"])
        #expect(SharedTable.call.columns.contains { $0.name == "also_called" && $0.isText })
    }

    @Test func `the shared ledger has a fact for each number that may return the call`() throws {
        let ledger = try LedgerFixture { $0.isShared = true }
        var legs = [ScriptedCall(ledger.ring, 1), ScriptedCall(ledger.ring, 1)]
        legs[1].destination += 1
        for leg in legs { leg.invite() }
        legs[0].rings(at: 1)
        legs[0].failed(480, at: 30)
        try ledger.recorder.drain()
        let facts = try ledger.database.ledger.read { database in
            try String.fetchAll(
                database, sql: "SELECT subscriber_key FROM return_candidate WHERE direction = 1 ORDER BY id")
        }
        #expect(facts == ["+61291234567", "+61291234568"])
    }
}
