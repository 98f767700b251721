// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import Testing

@testable import GatewayStore

/// Requirements: what a gateway saw before it died counts after its return, though the call has ended meanwhile.
///
/// Times of messages are seconds after the INVITE; the report comes after the end.
@Suite("Late reports of other gateways")
struct LateReportTests {
    private static let call = CallIdentifier(high: 7, low: 9)

    /// A message of the call, at a second.
    struct Message: Sendable, CustomStringConvertible {
        let kind: CallUpdate.Kind
        let at: Int64
        var status: UInt16 = 0
        var isVoicemail = false
        var description: String { "\(kind) \(status) at \(at)" }

        static func rings(_ at: Int64) -> Message { Message(kind: .provisional, at: at, status: 180) }
        static func progress(_ at: Int64) -> Message { Message(kind: .provisional, at: at, status: 183) }
        static func answered(_ at: Int64) -> Message { Message(kind: .answered, at: at, status: 200) }
        static func failed(_ at: Int64, _ status: UInt16) -> Message { Message(kind: .failed, at: at, status: status) }
        static func bye(_ at: Int64) -> Message { Message(kind: .bye, at: at) }
        static func cancelled(_ at: Int64) -> Message { Message(kind: .cancelled, at: at) }
        static func machine(_ at: Int64) -> Message {
            Message(kind: .answered, at: at, status: 200, isVoicemail: true)
        }
    }

    /// The result of a call: outcome, whole seconds of ringing and talking, events.
    struct Account: Equatable, Sendable {
        var outcome: String?
        var rang: Int?
        var talked: Int?
        var events: [String] = []
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let here: [Message]
        var reason: PassThroughReason?
        let late: [Message]
        let account: Account
        var testDescription: String { what }
    }

    private static let rows: [Row] = [
        Row(
            what: "a 180 of an answered call gives it a ring time; its display is known by the 2xx",
            here: [.answered(8), .bye(28)], late: [.rings(2)],
            account: Account(outcome: "ANSWERED", rang: 6, talked: 20, events: ["displayed", "call_seen"])),
        Row(
            what: "a 180 of a cancelled call shows that the name was displayed",
            here: [.cancelled(20), .failed(21, 487)], late: [.rings(2)],
            account: Account(outcome: "MISSED", rang: 18, events: ["missed", "displayed"])),
        Row(
            what: "a 183 does too, because the call ended as a ringing one",
            here: [.cancelled(20), .failed(21, 487)], late: [.progress(3)],
            account: Account(outcome: "MISSED", rang: 17, events: ["missed", "displayed"])),
        Row(
            what: "a 183 of a call that failed may be an announcement",
            here: [.failed(21, 404)], late: [.progress(3)],
            account: Account(outcome: "FAILED", events: ["error"])),
        Row(
            what: "a 183 before a machine's 2xx proves no display",
            here: [.machine(12), .bye(28)], late: [.progress(3)],
            account: Account(outcome: "MISSED", events: ["missed"])),
        Row(
            what: "an earlier 180 of a call whose later one is known changes the ring time alone",
            here: [.rings(5), .cancelled(20), .failed(21, 487)], late: [.rings(2)],
            account: Account(outcome: "MISSED", rang: 18, events: ["displayed", "missed"])),
        Row(
            what: "the first 2xx of a call whose repetition is known: the duration begins with the first",
            here: [.rings(2), .answered(12), .bye(28)], late: [.answered(8)],
            account: Account(outcome: "ANSWERED", rang: 6, talked: 20, events: ["displayed", "call_seen"])),
        Row(
            what: "180 and 2xx together",
            here: [.answered(12), .bye(28)], late: [.rings(3), .answered(8)],
            account: Account(outcome: "ANSWERED", rang: 5, talked: 20, events: ["displayed", "call_seen"])),
        Row(
            what: "a phone that rang before a voicemail box answered",
            here: [.machine(12), .bye(28)], late: [.rings(3)],
            account: Account(outcome: "MISSED", rang: 9, events: ["missed", "displayed"])),
        Row(
            what: "the outcome was reported and stays, though a 2xx had been sent",
            here: [.cancelled(20), .failed(21, 487)], late: [.answered(8)],
            account: Account(outcome: "MISSED", events: ["missed"])),
        Row(
            what: "a repeated 2xx changes nothing",
            here: [.rings(2), .answered(8), .bye(28)], late: [.answered(9)],
            account: Account(outcome: "ANSWERED", rang: 6, talked: 20, events: ["displayed", "call_seen"])),
        Row(
            what: "a 180 after the end is not of this call",
            here: [.cancelled(20), .failed(21, 487)], late: [.rings(22)],
            account: Account(outcome: "MISSED", events: ["missed"])),
        Row(
            what: "a message before the INVITE is not of this call either",
            here: [.cancelled(20), .failed(21, 487)], late: [.rings(-30)],
            account: Account(outcome: "MISSED", events: ["missed"])),
        Row(
            what: "an unbranded call has no event, and its ring time",
            here: [.cancelled(20), .failed(21, 487)], reason: .noMatch, late: [.rings(2)],
            account: Account(outcome: "MISSED", rang: 18)),
        Row(
            what: "a CANCEL, a rejection and a BYE, which may be of a fork, change nothing",
            here: [.rings(2), .answered(8), .bye(28)], late: [.cancelled(3), .failed(4, 486), .bye(9)],
            account: Account(outcome: "ANSWERED", rang: 6, talked: 20, events: ["displayed", "call_seen"])),
    ]

    private func update(
        _ message: Message, of call: CallIdentifier = call, reason: PassThroughReason? = nil
    ) -> CallUpdate {
        var update = CallUpdate(
            kind: message.kind, direction: .inbound, call: call,
            wallMicroseconds: LedgerFixture.Clock.start + message.at * 1_000_000, status: message.status,
            caller: 61_491_570_156, destination: 61_291_234_567,
            reason: reason)
        if message.isVoicemail { update.marks.insert(.voicemail) }
        return update
    }

    private func report(_ messages: [Message], to fixture: LedgerFixture) throws {
        _ = fixture.recorder.cluster.take(messages.map { ForeignUpdate(seenHere: update($0)) })
        try fixture.recorder.drain()
    }

    private func play(
        _ messages: [Message], on fixture: LedgerFixture, call: CallIdentifier = call,
        reason: PassThroughReason? = nil
    ) throws {
        let invite = update(Message(kind: .invite, at: 0), of: call, reason: reason)
        fixture.ring.append(invite, texts: CallTexts(sipCallID: Array("c".utf8)))
        for message in messages { fixture.ring.append(update(message, of: call)) }
        fixture.clock.advance(seconds: 30)
        try fixture.recorder.drain()
    }

    private func account(_ fixture: LedgerFixture) throws -> Account {
        let call = try #require(try fixture.calls().first { $0.callID == Self.call.description })
        let keys = try fixture.keys().filter { $0.hasSuffix(call.callID) }
        return Account(
            outcome: call.outcome, rang: call.ringSeconds, talked: call.callSeconds,
            events: keys.map { EventKey($0).outcome })
    }

    @Test(arguments: rows)
    func `a late report corrects what it proves`(row: Row) throws {
        let fixture = try LedgerFixture()
        try play(row.here, on: fixture, reason: row.reason)
        try report(row.late, to: fixture)
        #expect(try account(fixture) == row.account)
        #expect(try Set(fixture.counts().kinds) == fixture.countsOfRows(), "the counts of the hour change with it")
        let rows = try fixture.rows()
        try report(row.late, to: fixture)
        #expect(try fixture.rows() == rows, "its second copy changes nothing")
    }

    @Test func `the late display has the time of the 180, and the row names the event`() throws {
        let fixture = try LedgerFixture()
        try play([.cancelled(20), .failed(21, 487)], on: fixture)
        try report([.rings(2)], to: fixture)
        let call = try #require(try fixture.calls().first)
        #expect(call.events.map(\.outcome).sorted() == ["displayed", "missed"])
        let shown = try #require(call.events.first { $0.outcome == "displayed" })
        #expect(shown.displayedAt == "2026-01-01T00:00:02Z")
        #expect(shown.state == .waiting)
        #expect(fixture.recorder.totals.corrected == 1)
    }

    @Test(arguments: [1, 3_600, 86_400 * 3])
    func `the call is found an hour or days later, after a restart, among many others`(seconds: Int64) throws {
        let fixture = try LedgerFixture()
        for number in UInt64(1)...40 {
            try play([.cancelled(3)], on: fixture, call: CallIdentifier(high: 1, low: number))
        }
        try play([.answered(12), .bye(28)], on: fixture)
        fixture.clock.advance(seconds: seconds)
        for number in UInt64(1)...40 {
            let call = CallIdentifier(high: 2, low: number)
            var invite = update(Message(kind: .invite, at: 300 + seconds), of: call)
            invite.caller = 61_491_570_157
            fixture.ring.append(invite, texts: CallTexts(sipCallID: Array("d".utf8)))
        }
        try fixture.recorder.drain()
        try fixture.restart()
        try report([.rings(3), .answered(8)], to: fixture)
        #expect(
            try account(fixture)
                == Account(outcome: "ANSWERED", rang: 5, talked: 20, events: ["displayed", "call_seen"]))
    }

    // `ForeignUpdate` has the time by the present clock, the row that of its end.
    @Test(arguments: [3_000, -3_000])
    func `a step of the clock after the end makes no difference`(step: Int64) throws {
        let fixture = try LedgerFixture()
        try play([.answered(12), .bye(28)], on: fixture)
        fixture.clock.set(by: step)
        try fixture.recorder.drain()
        try report([.rings(3 + step), .answered(8 + step)], to: fixture)
        #expect(
            try account(fixture)
                == Account(outcome: "ANSWERED", rang: 5, talked: 20, events: ["displayed", "call_seen"]))
        #expect(try fixture.calls().first?.answeredAt == LedgerFixture.Clock.start + 8_000_000)
    }

    @Test func `a late report of an earlier attempt is not of the attempt that the call became`() throws {
        let fixture = try LedgerFixture { $0.limits.redial = 4_000_000 }
        let texts = CallTexts(sipCallID: Array("c".utf8))
        fixture.ring.append(update(Message(kind: .invite, at: 0)), texts: texts)
        fixture.ring.append(update(.failed(1, 503)))
        let second = CallIdentifier(high: 7, low: 10)
        var invite = update(Message(kind: .invite, at: 3), of: second)
        invite.caller = 61_491_570_156
        fixture.ring.append(invite, texts: CallTexts(sipCallID: Array("e".utf8)))
        fixture.ring.append(update(.failed(5, 486), of: second))
        fixture.clock.advance(seconds: 60)
        try fixture.recorder.drain()
        let rows = try fixture.rows()
        #expect(try fixture.calls().map(\.attempts) == [2])
        try report([.rings(1)], to: fixture)
        #expect(try fixture.rows() == rows)
    }

    @Test func `a report about a call that is nowhere here changes nothing`() throws {
        let fixture = try LedgerFixture()
        try play([.answered(12), .bye(28)], on: fixture, call: CallIdentifier(high: 1, low: 1))
        fixture.clock.advance(seconds: 3_600)
        let rows = try fixture.rows()
        try report([.rings(3), .answered(8)], to: fixture)
        #expect(try fixture.rows() == rows)
        #expect(fixture.recorder.cluster.storedBatch == 1)
    }

    // RFC 3261 §13.3.1.4: the first repetition of a 2xx comes after T1, 500 ms. Two copies of a report differ by less.
    @Test func `a report that is a little earlier than the known message is another copy of its report`() throws {
        let fixture = try LedgerFixture()
        try play([.rings(2), .answered(8), .bye(28)], on: fixture)
        let rows = try fixture.rows()
        let copies = [Message.rings(2), .answered(8)].map { message in
            var copy = update(message)
            copy.wallMicroseconds -= 300_000
            return ForeignUpdate(seenHere: copy)
        }
        _ = fixture.recorder.cluster.take(copies)
        try fixture.recorder.drain()
        #expect(try fixture.rows() == rows)
    }

    @Test func `a missed call whose display is known late may be returned`() throws {
        let fixture = try LedgerFixture()
        let call = ScriptedCall(fixture.ring, 1)
        call.invite()
        call.cancelled(at: 20)
        call.failed(487, at: 21)
        try fixture.recorder.drain()
        _ = fixture.recorder.cluster.take([ForeignUpdate(seenHere: call.update(.provisional, 2, 180))])
        try fixture.recorder.drain()
        let back = ScriptedCall.outbound(fixture.ring, 2)
        back.invite(at: 100)
        back.rings(at: 102)
        try fixture.recorder.drain()
        #expect(try fixture.keys() == ["missed:\(call.id)", "displayed:\(call.id)", "returned:\(call.id)"])
        _ = fixture.recorder.cluster.take([ForeignUpdate(seenHere: call.update(.provisional, 1, 183))])
        try fixture.recorder.drain()
        let another = ScriptedCall.outbound(fixture.ring, 3)
        another.invite(at: 200)
        another.rings(at: 202)
        try fixture.recorder.drain()
        #expect(try fixture.keys().count == 3, "a second correction does not make it an original again")
    }

    @Test func `calls of a while ago are searched at most every ten seconds`() throws {
        let fixture = try LedgerFixture()
        try play([.answered(12), .bye(28)], on: fixture)
        fixture.clock.advance(seconds: 3_600)
        try fixture.restart()
        var other = update(.answered(8))
        other.call = CallIdentifier(high: 3, low: 3)
        _ = fixture.recorder.cluster.take([ForeignUpdate(seenHere: other)])
        try fixture.recorder.drain()
        try report([.answered(8)], to: fixture)
        #expect(try account(fixture).talked == 16)
        fixture.clock.advance(seconds: 10)
        try fixture.recorder.drain()
        #expect(try account(fixture).talked == 20)
    }

    @Test func `an output that has not been written yet has the corrected times`() throws {
        let fixture = try LedgerFixture { $0.outputs = [.file] }
        try play([.answered(12), .bye(28)], on: fixture)
        try report([.answered(8)], to: fixture)
        let rows = try fixture.database.ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM call_output") }
        #expect(rows == 1, "and it is put out once")
        #expect(try account(fixture).talked == 20)
    }
}
