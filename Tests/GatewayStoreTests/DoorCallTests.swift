// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import GatewayStore
import Testing

@Suite("Calls that a PBX reported, in the ledger")
struct DoorCallTests {
    private static let hour: Int64 = 3_600

    /// Reports a missed call that began some seconds after the start of the test.
    private func report(
        _ fixture: LedgerFixture, _ number: UInt64, at second: Int64, isNamed: Bool = true, status: UInt16 = 480,
        to destination: UInt64 = 61_291_234_567
    ) -> UInt64? {
        var call = ScriptedCall(fixture.ring, number)
        call.destination = destination
        var invite = call.update(.invite, second)
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isNamed) = (.report, isNamed)
        invite.evidence = evidence
        let texts = CallTexts(
            sipCallID: Array("1800000000.\(number)".utf8), brandName: Array("Acme".utf8), brandID: Array("b-7".utf8),
            subscriber: Array("1001".utf8))
        let course = [call.update(.provisional, second + 2, 180), call.update(.failed, second + 30, status)]
        return fixture.ring.append(whole: [invite] + course, texts: texts)
    }

    private func isKnown(_ fixture: LedgerFixture, _ number: UInt64) throws -> Bool {
        try LedgerReader(fixture.database.ledger).hasDoorCall([CallIdentifier(high: 0xabcd, low: number)])
    }

    @Test func `a report is one call with its events, and the ring's number shows that it is stored`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: Self.hour)
        let position = try #require(report(fixture, 1, at: 0))
        #expect(fixture.ring.released < position)
        #expect(try !isKnown(fixture, 1))
        try fixture.recorder.drain()
        #expect(fixture.ring.released >= position)
        #expect(try isKnown(fixture, 1) && !isKnown(fixture, 2))
        let call = try #require(try fixture.calls().first)
        #expect(call.outcome == "MISSED" && call.endedAt != nil)
        let id = CallIdentifier(high: 0xabcd, low: 1)
        #expect(try fixture.keys() == ["displayed:\(id)", "missed:\(id)"])
    }

    @Test func `the same report in one batch, in the next and after a kill is one call`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: Self.hour)
        _ = report(fixture, 1, at: 0)
        _ = report(fixture, 1, at: 0)
        try fixture.recorder.drain()
        _ = report(fixture, 1, at: 0, to: 61_291_234_568)
        fixture.clock.advance(seconds: 6)
        try fixture.recorder.drain()
        _ = report(fixture, 2, at: 0)
        // Killed before the batch of the second call.
        try fixture.restart()
        _ = report(fixture, 2, at: 0)
        try fixture.recorder.drain()
        fixture.clock.advance(seconds: 20)
        try fixture.recorder.drain()
        _ = report(fixture, 2, at: 0)
        try fixture.recorder.drain()
        #expect(try fixture.calls().count == 2 && fixture.keys().count == 4)
        #expect(try isKnown(fixture, 1) && isKnown(fixture, 2))
    }

    @Test func `a report that was stored before a kill, and repeated behind it, is one call`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: Self.hour)
        _ = report(fixture, 1, at: 0)
        try fixture.recorder.drain()
        _ = report(fixture, 1, at: 0)
        try fixture.restart()
        try fixture.recorder.drain()
        #expect(try fixture.calls().count == 1 && fixture.keys().count == 2)
    }

    @Test func `a report is known for two days, and only ended calls of a door are`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: Self.hour)
        _ = report(fixture, 1, at: 0)
        ScriptedCall(fixture.ring, 2).missed()
        try fixture.recorder.drain()
        #expect(try isKnown(fixture, 1) && !isKnown(fixture, 2))
        fixture.clock.advance(seconds: 47 * Self.hour)
        try fixture.recorder.prune()
        #expect(try isKnown(fixture, 1))
        fixture.clock.advance(seconds: 2 * Self.hour)
        try fixture.recorder.prune()
        #expect(try !isKnown(fixture, 1))
    }

    @Test func `it joins no attempt of a call that passes, and none joins it`() throws {
        let fixture = try LedgerFixture { $0.limits.redial = 10_000_000 }
        let failed = ScriptedCall(fixture.ring, 1)
        failed.invite()
        failed.failed(503, at: 1)
        _ = report(fixture, 2, at: 2, status: 503)
        _ = report(fixture, 3, at: 3, status: 503)
        try fixture.recorder.drain()
        #expect(try fixture.calls().count == 3)
    }

    @Test func `reports of old calls between passing ones hide no late retransmission after a restart`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: 2 * Self.hour)
        let passing = ScriptedCall(fixture.ring, 1)
        passing.missed(from: 2 * Self.hour - 31)
        try fixture.recorder.drain()
        _ = report(fixture, 2, at: 0)
        try fixture.recorder.drain()
        try fixture.restart()
        ScriptedCall(fixture.ring, 1).invite(at: 2 * Self.hour - 31)
        try fixture.recorder.drain()
        #expect(try fixture.calls().count == 2)
    }

    @Test func `a search by time finds calls around reports of old ones`() throws {
        let fixture = try LedgerFixture()
        fixture.clock.advance(seconds: 10 * Self.hour)
        for hour in 0..<10 {
            ScriptedCall(fixture.ring, UInt64(100 + hour)).missed(from: Int64(hour) * Self.hour)
            _ = report(fixture, UInt64(200 + hour), at: 0)
            try fixture.recorder.drain()
        }
        let start = LedgerFixture.Clock.start / 1_000_000
        var filter = CallFilter()
        (filter.since, filter.until) = (start + 5 * Self.hour - 60, start + 7 * Self.hour)
        #expect(try fixture.calls(filter).count == 3)
    }
}
