// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import CallPath
import Foundation
import Primitives
import Testing

@testable import GatewayOperator
@testable import Trust

@Suite("The verdict on a signature in a trace and in a simulation")
struct TracedSignatureTests {
    private static func verdict(
        _ number: TrustVerdict.Number, _ causes: [TrustCause], codes: [String] = ["123A"],
        numbers: [String] = [], subject: String = "Example Carrier", claimed: (String?, String?)? = nil
    ) -> TrustVerdict {
        var verdict = TrustVerdict()
        (verdict.number, verdict.causes) = (number, causes)
        let ranges = numbers.compactMap { CanonicalNumber($0) }.compactMap {
            AuthorityList.NumberRange(start: $0, count: 1)
        }
        if !codes.isEmpty || !ranges.isEmpty {
            verdict.signer = Signer(
                row: 1, key: nil, authority: AuthorityList(codes: codes, ranges: ranges), standings: [],
                subject: subject)
        }
        verdict.origid = "123e4567-e89b-12d3-a456-426655440000"
        verdict.claimed = claimed.map { caller, called in
            TrustVerdict.Claimed(
                caller: caller.flatMap { CanonicalNumber($0) }, called: called.flatMap { CanonicalNumber($0) })
        }
        return verdict
    }

    private static func traced(
        _ verdict: TrustVerdict, counts: Bool = true, claim: Verification = .none, called: String? = "+12025559999",
        isWithheld: Bool = false
    ) -> TracedSignature {
        TracedSignature(
            verdict, TrustEvidence(verdict, counts: counts, trunkClaim: claim, code: nil),
            called: called.flatMap { E164Number($0) }, isWithheld: isWithheld)
    }

    private static let other = verdict(
        .failed, [.calledMismatch], codes: [], claimed: ("12025551000", "12025551001"))

    private static let lines: [(TracedSignature, String)] = [
        (traced(verdict(.passed(.a), [.passed])), "signature passed(A) by 123A"),
        (
            traced(verdict(.passed(.b), [.passed, .stale]), counts: false, claim: .passedA),
            "signature passed(B) by 123A, beside stale, shadow, the trunk reports A"
        ),
        (
            traced(other),
            "signature failed: called_mismatch, orig <12025551000>, dest <12025551001>, called <+12025559999>"
        ),
        (traced(other, called: nil), "signature failed: called_mismatch, orig <12025551000>, dest <12025551001>"),
        (
            traced(verdict(.failed, [.callerMismatch], codes: [], claimed: (nil, "12025551001"))),
            "signature failed: caller_mismatch, dest <12025551001>, called <+12025559999>"
        ),
        (
            traced(verdict(.none, [.signerNotYetKnown, .unsupportedPPT], codes: [])),
            "signature none: signer_not_yet_known, unsupported_ppt"
        ),
        (
            traced(verdict(.passed(nil), [.passed], codes: [], numbers: ["12025551000"])),
            "signature passed without attestation by <12025551000>"
        ),
        (traced(verdict(.failed, [.badSignature])), "signature failed: bad_signature"),
    ]

    @Test func `a trace shows that a call was rejected`() {
        var evidence = TrustEvidence(Self.other, counts: true, trunkClaim: .passedA, code: 438)
        evidence.isRejected = true
        let step = TracedSignature(Self.other, evidence, called: nil, isWithheld: true).step
        #expect(step.finding { $0 } == "signature failed: called_mismatch, rejected, the trunk reports A")
        #expect(
            SignatureStepsTests.lines(evidence)[0] == "signature: failed, checked here, decide: the call was rejected; "
                + "the trunk reports A, the signature gives failed")
    }

    @Test(arguments: lines.indices) func `a trace has the verdict in a few words`(place: Int) {
        let (traced, line) = Self.lines[place]
        #expect(traced.step.finding { "<\($0)>" } == line)
    }

    @Test func `the page on signers shows the step of a trace`() throws {
        let traced = Self.traced(Self.other, counts: false, claim: .passedA)
        let line = traced.step.finding { String(decoding: NumberMask.masked(Array($0.utf8)[...]), as: UTF8.self) }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../docs/trust.md")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("\n\(line)\n"), "\(line)")
    }

    @Test func `a trace shows the numbers of a token as its reader may see the call`() {
        var decision = TracedDecision()
        decision.signature = Self.traced(Self.other)
        let full = "; signature failed: called_mismatch, orig 12025551000, dest 12025551001, called +12025559999; "
        #expect(decision.evidence(.full, brand: "").contains(full))
        let masked = "; signature failed: called_mismatch, orig 12******000, dest 12******001, called +12******999; "
        #expect(decision.evidence(.masked, brand: "").contains(masked))
        #expect(decision.evidence(.withheld, brand: "").contains("orig ***, dest ***, called ***; "))
    }

    @Test func `the claimed number of a withheld caller is not even in the record`() {
        let claimed = Self.traced(Self.other, isWithheld: true)
        #expect(claimed.claimedCaller == nil && claimed.claimedCalled == nil && claimed.evidence.origid == nil)
        #expect(claimed.step.finding { $0 } == "signature failed: called_mismatch")
        let delegate = Self.traced(
            Self.verdict(.passed(.a), [.passed], codes: [], numbers: ["12025551000"], subject: "12025551000"),
            isWithheld: true)
        #expect(delegate.provider == nil && delegate.subject == nil)
        let carrier = Self.traced(Self.verdict(.passed(.a), [.passed]), isWithheld: true)
        #expect(carrier.provider == "123A" && carrier.subject == "Example Carrier")
    }

    @Test func `a hostile provider code cannot control the terminal`() {
        var decision = TracedDecision()
        decision.signature = Self.traced(Self.verdict(.passed(.a), [.passed], codes: ["\u{1B}]0;owned\u{7}\r\nx"]))
        var ladder = TraceLadder(.narrow)
        let text = ladder.text(
            of: TraceLine(
                .decision("matched", evidence: decision.evidence(.full, brand: "")), wallMicroseconds: 0, callID: "c"))
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x7F || $0 == "\n" }, "\(text)")
    }

    // MARK: Simulation

    @Test func `a simulation shows each step, and both numbers where they differ`() {
        var decided = TracedDecision()
        decided.signature = Self.traced(Self.other)
        let steps = SimulatedSignature(decided).steps
        #expect(steps.map(\.0) == ["signature", "origid", "Identity", "numbers"])
        #expect(steps.last?.1 == "orig 12025551000, dest 12025551001, called +12025559999")
        guard case .object(let json)? = SimulatedSignature(decided).json else {
            Issue.record("no JSON")
            return
        }
        #expect(json["result"] == .string("failed") && json["causes"] == .array([.string("called_mismatch")]))
        #expect(json["orig"] == .string("12025551000") && json["dest"] == .string("12025551001"))
    }

    @Test func `a call that is not verified has one step and no JSON`() {
        for decided in [nil, TracedDecision()] {
            #expect(SimulatedSignature(decided).steps.map(\.0) == ["signature"])
            #expect(SimulatedSignature(decided).json == nil)
        }
    }
}
