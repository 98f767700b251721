// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import Testing

@testable import GatewayStore

/// Requirements: a call in shadow is no event, no return and no lookup; its row has the brand that no phone showed.
@Suite("Ledger: calls in shadow")
struct ShadowLedgerTests {
    private static var evidence: DecisionEvidence {
        var evidence = DecisionEvidence()
        evidence.isInShadow = true
        evidence.lookup = .brandFound
        evidence.isNamed = true
        return evidence
    }

    private func ledger() throws -> LedgerFixture {
        try LedgerFixture(capacity: 4_096) { $0.vocabulary.noMatchShare = 1 }
    }

    private func call(
        _ ledger: LedgerFixture, _ number: UInt64, _ reason: PassThroughReason? = .shadow
    ) -> ScriptedCall {
        var call = ScriptedCall(ledger.ring, number)
        call.reason = reason
        call.evidence = Self.evidence
        call.carrierName = "Carrier"
        return call
    }

    /// The ends that a call may have.
    enum End: CaseIterable { case answered, missed, declined, busy, cancelled, failed, voicemail }

    private func play(_ call: ScriptedCall, _ end: End, from second: Int64 = 0) {
        call.invite(at: second)
        if end != .failed { call.rings(at: second + 1) }
        switch end {
        case .answered, .voicemail:
            call.answered(at: second + 5, marks: end == .voicemail ? .voicemail : [])
            call.bye(at: second + 50)
        case .missed: call.failed(480, at: second + 31)
        case .declined: call.failed(603, at: second + 5)
        case .busy: call.failed(486, at: second + 5)
        case .cancelled:
            call.cancelled(at: second + 10)
            call.failed(487, at: second + 10)
        case .failed: call.failed(503, at: second + 1)
        }
    }

    /// Each decision that a trunk in shadow makes; a call with a brand has the reason `shadow`.
    static let reasons: [PassThroughReason] = [
        .shadow, .noMatch, .privacy, .untrusted, .stale, .gatedCapReached, .gatedBrandingDisabled, .policy,
    ]

    @Test(arguments: reasons)
    func `no end of it is an event`(reason: PassThroughReason) throws {
        let ledger = try ledger()
        for (number, end) in End.allCases.enumerated() {
            play(call(ledger, UInt64(number + 1), reason), end, from: Int64(number) * 100)
        }
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 2_000)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == End.allCases.count)
        #expect(try ledger.events().isEmpty)
        #expect(try ledger.counts().brands.isEmpty)
    }

    @Test func `without shadow the same calls are events`() throws {
        let ledger = try ledger()
        for (number, reason) in [nil, PassThroughReason.noMatch, .gatedCapReached].enumerated() {
            var call = call(ledger, UInt64(number + 1), reason)
            call.evidence?.isInShadow = false
            play(call, .answered, from: Int64(number) * 100)
        }
        try ledger.recorder.drain()
        #expect(try ledger.events().count == 4)
    }

    @Test func `its row has the brand, and the subscriber's call back is no return`() throws {
        let ledger = try ledger()
        play(call(ledger, 1), .missed)
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 100)
        back.rings(at: 101)
        back.answered(at: 105)
        back.bye(at: 110)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 200)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.decision == "shadow" && row.brandName == "Acme \"Bank\"" && row.brandID == "b-7")
        #expect(row.carrierName == "Carrier" && row.outcome == "MISSED")
        #expect(row.record?.brandInShadow == "Acme \"Bank\"" && row.record?.isBranded == false)
        #expect(row.record?.displayEvidence == nil)
        #expect(try ledger.events().isEmpty)
        let returned = try ledger.database.ledger.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM call WHERE returnable = 1 OR returned_at IS NOT NULL")
        }
        #expect(returned == 0)
    }

    @Test func `it is found by decision, reason and brand, and counted by brand`() throws {
        let ledger = try ledger()
        play(call(ledger, 1), .answered)
        play(call(ledger, 2), .missed, from: 100)
        play(call(ledger, 3, .noMatch), .answered, from: 200)
        try ledger.recorder.drain()
        var filter = CallFilter()
        filter.decisions = ["shadow"]
        #expect(try ledger.calls(filter).count == 2)
        filter.decisions = nil
        filter.brand = "b-7"
        #expect(try ledger.calls(filter).count == 2)
        let counts = try LedgerReader(ledger.database.ledger).counts(matching: CallFilter())
        let inShadow = counts.counts.filter { $0.key.decision == "shadow" }
        #expect(inShadow.keys.allSatisfy { $0.brandInShadow == "Acme \"Bank\"" })
        #expect(inShadow.values.map(\.calls).reduce(0, +) == 2)
        #expect(counts.counts.keys.filter { $0.decision == "no_match" }.allSatisfy { $0.brandInShadow == nil })
    }

    /// Only the evidence tells the two apart: a brand of a file may have no identifier, and a signer no code.
    @Test(arguments: [false, true])
    func `values of a signature alone are no brand in summary, filter and counts`(isNamedBySigner: Bool) throws {
        let ledger = try ledger()
        var call = call(ledger, 1)
        call.evidence?.isNamedBySigner = isNamedBySigner
        call.trust = TrustEvidence()
        play(call, .answered)
        try ledger.recorder.drain()
        let brand = isNamedBySigner ? nil : "Acme \"Bank\""
        var filter = CallFilter()
        filter.brand = "acme \"bank\""
        #expect(try ledger.calls(filter).count == (isNamedBySigner ? 0 : 1))
        let counts = try LedgerReader(ledger.database.ledger).counts(matching: CallFilter())
        #expect(counts.counts.keys.map(\.brandInShadow) == [brand])
        #expect(try shadowCounts(ledger).map(\.brand) == [brand])
        #expect(try ledger.calls().first?.record?.brandInShadow == brand)
    }

    // MARK: INVITEs of one call with and without a brand

    /// The other INVITE of a call whose first one has a brand, and whether it follows a 503.
    @Test(arguments: [(true, 0), (true, 2), (false, 0), (false, 2)])
    func `a phone that rings in shadow is no event, over a restart too`(isNext: Bool, restartsAfter: Int) throws {
        let ledger = try LedgerFixture(capacity: 4_096) { $0.limits.redial = 5_000_000 }
        var first = call(ledger, 1, nil)
        first.evidence?.isInShadow = false
        first.invite()
        if isNext { first.failed(503, at: 1) }
        var other = call(ledger, 1)
        if !isNext { other.destination += 1 }
        if restartsAfter > 0 { try ledger.recorder.drain() }
        other.invite(at: 2)
        if restartsAfter > 1 {
            try ledger.recorder.drain()
            try ledger.restart()
            other.ring = ledger.ring
        }
        other.reason = .noMatch
        other.rings(at: 3)
        other.failed(480, at: 30)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 100)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.decision == "shadow" && row.outcome == "MISSED" && row.brandName == "Acme \"Bank\"")
        #expect(row.record?.isInShadow == true && row.record?.displayEvidence == nil)
        #expect(try ledger.events().isEmpty)
        #expect(try shadowCounts(ledger).map(\.sums.calls) == [1])
    }

    @Test func `a later call with the brand is no attempt of the one in shadow`() throws {
        let ledger = try LedgerFixture(capacity: 4_096) { $0.limits.redial = 5_000_000 }
        var first = call(ledger, 1, nil)
        first.evidence?.isInShadow = false
        first.invite()
        first.failed(503, at: 1)
        let other = call(ledger, 1)
        other.invite(at: 2)
        other.failed(503, at: 3)
        var third = first
        third.id = CallIdentifier(high: 0xabcd, low: 3)
        third.missed(from: 4)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 100)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.decision) == ["shadow", "matched"])
        #expect(try ledger.keys() == ["displayed:\(third.id)", "missed:\(third.id)"])
    }

    // MARK: Counts by hour

    private func shadowCounts(_ ledger: LedgerFixture) throws -> [ShadowCounts.Kind] {
        try LedgerReader(ledger.database.ledger).shadowCounts(of: LedgerFixture.allHours).kinds
    }

    @Test func `ended calls are counted by brand and by reason, once, also after a kill`() throws {
        let ledger = try ledger()
        play(call(ledger, 1), .answered)
        play(call(ledger, 2), .missed, from: 100)
        play(call(ledger, 3, .noMatch), .answered, from: 200)
        var other = call(ledger, 4, nil)
        other.evidence?.isInShadow = false
        play(other, .answered, from: 300)
        try ledger.recorder.drain(limit: 3)
        try ledger.restart()
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 2_000)
        try ledger.recorder.drain()
        let kinds = try shadowCounts(ledger)
        #expect(
            kinds == [
                .init(
                    trunk: "carrier", decision: "shadow", brand: "Acme \"Bank\"",
                    sums: .init(calls: 2, reached: 2, answered: 1, talks: 1, talkSeconds: 45)),
                .init(
                    trunk: "carrier", decision: "no_match",
                    sums: .init(calls: 1, reached: 1, answered: 1, talks: 1, talkSeconds: 45)),
            ])
        #expect(try ledger.counts().brands.map(\.sums.calls) == [1], "the brand that was written")
        #expect(try Set(ledger.counts().kinds) == ledger.countsOfRows())
    }

    @Test func `nothing is counted while nothing is in shadow, and old counts go`() throws {
        let ledger = try ledger()
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        #expect(try shadowCounts(ledger).isEmpty)
        play(call(ledger, 9), .answered, from: 100)
        try ledger.recorder.drain()
        #expect(try shadowCounts(ledger).count == 1)
        ledger.clock.advance(seconds: 10 * 86_400)
        try ledger.recorder.prune()
        #expect(try shadowCounts(ledger).isEmpty)
    }

    @Test func `a file of the version before gets the table`() throws {
        let ledger = try ledger()
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    DROP TABLE shadow_hour;
                    DELETE FROM grdb_migrations WHERE identifier = 'ledger counts in shadow';
                    """)
        }
        try ledger.restart()
        play(call(ledger, 1), .answered)
        try ledger.recorder.drain()
        #expect(try shadowCounts(ledger).map(\.sums.calls) == [1])
    }
}
