// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import TestFixtures
import Testing
import Trust

@testable import GatewayStore

extension TrustSnapshot {
    /// A snapshot of one signer with a provider code.
    static func of(_ code: String, row: Int64) -> TrustSnapshot {
        of(row, AuthorityList(codes: [code]), "CN=SHAKEN \(code)")
    }

    static func of(_ row: Int64, _ authority: AuthorityList, _ subject: String) -> TrustSnapshot {
        let signer = Signer(row: row, key: nil, authority: authority, standings: [], subject: subject)
        return TrustSnapshot(generation: 1, regimeSet: 1, [.init(address: "https://a", chain: nil, signer: signer)])
    }
}

@Suite("Ledger: signed calls")
struct LedgerSignatureTests {
    private let ledger: LedgerFixture
    private static let origid = CallIdentifier(high: 0xA1A2, low: 0xB1B2)

    init() throws { ledger = try LedgerFixture() }

    private static func verdict(signer: Int64) -> TrustEvidence {
        var trust = TrustEvidence()
        (trust.result, trust.counts, trust.isBound, trust.diversions) = (.passedB, true, true, 1)
        (trust.packedCauses, trust.code, trust.signer, trust.origid) = (0x142D, 438, signer, origid)
        return trust
    }

    private func call(_ trust: TrustEvidence?, reason: PassThroughReason? = .noMatch) -> ScriptedCall {
        var call = ScriptedCall(ledger.ring, 1)
        (call.trust, call.reason) = (trust, reason)
        if reason == .privacy { call.caller = 0 }
        return call
    }

    @Test func `a verdict is kept with its call, without the row of the signer, over a restart too`() throws {
        ledger.signers.store(.of("123A", row: 77))
        let first = call(Self.verdict(signer: 77))
        first.invite()
        try ledger.recorder.drain()
        let begun = try #require(try ledger.calls().first?.record)
        var expected = Self.verdict(signer: 77)
        expected.signer = 0
        #expect(begun.trust == expected)
        #expect(begun.provider == "123A" && begun.signer == "CN=SHAKEN 123A")
        // Signers of a later import have other rows.
        ledger.signers.store(.of("999Z", row: 77))
        try ledger.restart()
        let again = ScriptedCall(ledger.ring, 1)
        again.rings(at: 1)
        again.failed(480, at: 31)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.outcome == "MISSED")
        #expect(row.trust == expected && row.record?.trust == expected)
        #expect(row.provider == "123A" && row.signer == "CN=SHAKEN 123A")
    }

    private struct Naming: Sendable {
        let authority: AuthorityList
        var subject = "CN=x"
        var row: Int64 = 5
        var isWithheld = false
        let provider: String?
        let signer: String?
    }

    private static let numbers = AuthorityList(
        ranges: ["12025551000", "12025552000"].compactMap { CanonicalNumber($0) }.compactMap {
            AuthorityList.NumberRange(start: $0, count: 100)
        })

    private static let namings = [
        Naming(authority: AuthorityList(codes: ["123A", "456B"]), provider: "123A", signer: "CN=x"),
        Naming(authority: AuthorityList(codes: ["123A"], ranges: numbers.ranges), provider: "123A", signer: "CN=x"),
        Naming(authority: numbers, provider: "12025551000", signer: "CN=x"),
        Naming(authority: AuthorityList(), provider: nil, signer: "CN=x"),
        Naming(authority: AuthorityList(codes: ["123A"]), subject: "", provider: "123A", signer: nil),
        // A signer that was forgotten since, and a verdict without one.
        Naming(authority: AuthorityList(codes: ["123A"]), row: 6, provider: nil, signer: nil),
        Naming(authority: AuthorityList(codes: ["123A"]), row: 0, provider: nil, signer: nil),
        // The numbers and the subject of such a certificate may be those of the caller.
        Naming(authority: AuthorityList(codes: ["123A"]), isWithheld: true, provider: "123A", signer: "CN=x"),
        Naming(authority: numbers, isWithheld: true, provider: nil, signer: nil),
        Naming(authority: AuthorityList(), isWithheld: true, provider: nil, signer: nil),
    ]

    @Test(arguments: namings.indices)
    func `the signer is named by its certificate`(index: Int) throws {
        let naming = Self.namings[index]
        ledger.signers.store(.of(5, naming.authority, naming.subject))
        call(Self.verdict(signer: naming.row), reason: naming.isWithheld ? .privacy : nil).invite()
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.provider == naming.provider)
        #expect(row.signer == naming.signer)
        #expect(row.trust?.origid == (naming.isWithheld ? nil : Self.origid))
        #expect(row.trust?.result == .passedB)
        #expect(try ledger.rows().allSatisfy { !naming.isWithheld || !$0.contains("12025551000") })
    }

    @Test func `a call without a verdict writes no more columns than without signed calls`() throws {
        let new = ["trust", "trust_causes", "signature_code", "origid", "provider", "signer"]
        #expect(CallColumn.all.suffix(6).map(\.name) == new)
        #expect(CallColumn.all.suffix(6).allSatisfy { $0.isRare && $0.changes.isEmpty })
        for (trust, isUsual) in [(nil, true), (TrustEvidence(), false)] as [(TrustEvidence?, Bool)] {
            var record = CallRecord(call: Self.origid, direction: .inbound, inviteAt: 1)
            record.trust = trust
            let call = LedgerCall(row: 1, callID: "", record: record, isStored: false)
            #expect(CallColumn.Written(call: call, record: record, subscriberKey: nil).isUsual == isUsual)
        }
        call(nil).missed()
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().first)
        #expect(row.trust == nil && row.provider == nil && row.signer == nil)
        #expect(new.allSatisfy { row.integer($0) == nil && row.text($0) == nil })
    }

    @Test func `of a call with several INVITEs the verdict on the first one counts`() throws {
        ledger.signers.store(.of("123A", row: 77))
        var call = call(Self.verdict(signer: 77))
        call.invite()
        call.failed(407, at: 1)
        call.trust = TrustEvidence()
        call.invite(at: 2)
        call.rings(at: 3)
        call.failed(480, at: 30)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.attempts) == [2])
        #expect(try ledger.calls().map { $0.trust?.result } == [.passedB])
    }

    /// A call from the same caller to the same callee follows within the time for another attempt.
    @Test(arguments: [true, false])
    func `a rejected call ends at once, and no other call continues it`(isRejectedFirst: Bool) throws {
        let ledger = try LedgerFixture { $0.limits.redial = 5_000_000 }
        var trust = TrustEvidence()
        (trust.result, trust.counts, trust.packedCauses, trust.code) = (.failed, true, 0x14, 438)
        for (number, isRejected) in [(UInt64(1), isRejectedFirst), (2, !isRejectedFirst)] {
            var call = ScriptedCall(ledger.ring, number, sipCallID: "c\(number)@carrier")
            trust.isRejected = isRejected
            (call.trust, call.reason) = (trust, .failedVerification)
            call.invite(at: Int64(number))
            call.failed(isRejected ? 438 : 503, at: Int64(number))
        }
        try ledger.recorder.drain()
        let calls = try ledger.calls()
        #expect(calls.count == 2)
        let rejected = try #require(calls.first { $0.trust?.isRejected == true })
        #expect(rejected.outcome == "FAILED" && rejected.status == 438 && rejected.attempts == 1)
        #expect(
            rejected.ladder.rungs.map(\.what) == [
                "INVITE rejected for its signature", "ended: FAILED, final status 438",
            ])
        #expect(calls.contains { $0.outcome == nil }, "the other one waits for the carrier's next attempt")
    }

    @Test func `only a signed call has a verdict's row, which goes with the call`() throws {
        ledger.settings.hasDirectory = false
        ledger.recorder.use(ledger.settings)
        func signed() throws -> [Int64] {
            try ledger.database.ledger.read { try Int64.fetchAll($0, sql: "SELECT call FROM call_signature") }
        }
        for number in 1...4 as ClosedRange<UInt64> {
            var call = ScriptedCall(ledger.ring, number, sipCallID: "c\(number)")
            call.trust = number % 2 == 1 ? Self.verdict(signer: 77) : nil
            call.missed(from: Int64(number))
        }
        try ledger.recorder.drain()
        #expect(try signed() == [1, 3])
        #expect(try ledger.calls().map { $0.trust != nil } == [true, false, true, false])
        ledger.clock.advance(seconds: 91 * 86_400)
        try ledger.recorder.prune()
        #expect(try signed().isEmpty && ledger.calls().map(\.row) == [4])
    }

    @Test(arguments: [Int64(2), -1, 1 << 32, .min])
    func `facts of another program are no verdict`(facts: Int64) throws {
        call(nil).invite()
        try ledger.recorder.drain()
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO call_signature (call, trust, trust_causes, signature_code, origid)
                        SELECT id, ?, -1, -1, 'x' FROM call
                    """,
                arguments: [facts])
        }
        let row = try #require(try ledger.calls().first)
        #expect(row.trust == nil && row.record?.trust == nil)
        try ledger.database.ledger.write { try $0.execute(sql: "UPDATE call_signature SET trust = 1") }
        let trust = try #require(try ledger.calls().first?.trust)
        #expect(trust.packedCauses == .max && trust.causes.isEmpty && trust.code == 0 && trust.origid == nil)
        try ledger.restart()
        try ledger.recorder.drain()
    }

    @Test func `calls of version 0.2.0 have no verdict, and get none`() throws {
        let folder = TemporaryFolder()
        let old = try DatabaseQueue(path: HeraldDatabase.ledgerPath(in: folder.path))
        try old.write { database in
            try database.execute(sql: Version020.ledger)
            try database.execute(
                sql: """
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at)
                    VALUES (1, ?, 'a@x', 1, 'matched', 1767225600000000)
                    """, arguments: [Self.origid.description])
        }
        try old.close()
        let calls = try LedgerReader(HeraldDatabase(folder: folder.path).ledger).calls(limit: 9)
        #expect(calls.map(\.callID) == [Self.origid.description])
        #expect(calls.allSatisfy { $0.trust == nil && $0.provider == nil && $0.record?.trust == nil })
    }
}
