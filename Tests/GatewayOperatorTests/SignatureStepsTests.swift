// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import Primitives
import Testing
import Trust

@testable import GatewayOperator

@Suite("The steps of a verified signature, as a command and a page show them")
struct SignatureStepsTests {
    private static let origid = "123e4567-e89b-12d3-a456-426655440000"
    private static let provider = Signer(
        row: 12, key: nil, authority: AuthorityList(codes: ["123A"]), standings: [],
        subject: "Example Carrier, SHAKEN 123A")

    static func evidence(
        _ number: TrustVerdict.Number, _ causes: [TrustCause], counts: Bool = true, claim: Verification = .none,
        code: UInt16? = nil, _ change: (inout TrustVerdict) -> Void = { _ in }
    ) -> TrustEvidence {
        var verdict = TrustVerdict()
        (verdict.number, verdict.causes) = (number, causes)
        change(&verdict)
        return TrustEvidence(verdict, counts: counts, trunkClaim: claim, code: code)
    }

    private static func decision(_ source: AttestationSource, isWithheld: Bool = false) -> DecisionEvidence {
        var decision = DecisionEvidence()
        (decision.source, decision.isWithheld) = (source, isWithheld)
        return decision
    }

    static func lines(
        _ evidence: TrustEvidence, _ source: AttestationSource = .none, provider: String? = nil,
        subject: String? = nil, isWithheld: Bool = false
    ) -> [String] {
        SignatureSteps(evidence, provider: provider, subject: subject, decision(source, isWithheld: isWithheld)).all
            .map { "\($0.name): \($0.finding { "<\($0)>" })" }
    }

    @Test func `a verdict that counts names the signer, the call's origin and the tie to the call`() {
        let evidence = Self.evidence(.passed(.a), [.passed]) {
            ($0.signer, $0.origid, $0.binding) = (Self.provider, Self.origid, .calledNumber)
        }
        #expect(
            Self.lines(evidence, .ownSignature, provider: "123A", subject: Self.provider.subject) == [
                "signature: passed(A), checked here, decide: the verdict counts",
                "signer: 123A, Example Carrier, SHAKEN 123A, #12 of herald trust list", "origid: \(Self.origid)",
                "Identity: passed: the signature is good and fits the call", "bound to: called number",
            ])
    }

    /// What a verdict proves, the mode, the trunk's claim, the source of the decision, and the finding.
    private static let effects:
        [(number: TrustVerdict.Number, counts: Bool, claim: Verification, source: AttestationSource, finding: String)] =
            [
                (.failed, true, .none, .ownSignature, "failed, checked here, decide: the verdict counts"),
                (.failed, false, .none, .none, "failed, checked here, shadow: the verdict would count"),
                (.none, true, .none, .none, "none, checked here, decide: the verdict changes nothing"),
                (.none, false, .passedA, .from, "none, checked here, shadow: the verdict would change nothing"),
                (
                    .passed(nil), true, .passedB, .from,
                    "passed without attestation, checked here, decide: the verdict changes nothing"
                ),
                (
                    .passed(.a), false, .passedB, .assertedIdentity,
                    "passed(A), checked here, shadow: the verdict would count; the trunk reports B, the signature gives A"
                ),
                (
                    .failed, true, .passedA, .ownSignature,
                    "failed, checked here, decide: the verdict counts; the trunk reports A, the signature gives failed"
                ),
                (
                    .passed(.c), true, .failed, .assertedIdentity,
                    "passed(C), checked here, decide: the verdict is recorded, and something else decided; "
                        + "the trunk reports failed, the signature gives C"
                ),
                (
                    .passed(.b), true, .passedB, .ownSignature,
                    "passed(B), checked here, decide: the verdict counts; the trunk reports B too"
                ),
            ]

    @Test(arguments: effects.indices) func `the effect and the trunk's claim are part of the finding`(place: Int) {
        let row = Self.effects[place]
        let evidence = Self.evidence(row.number, [.passed], counts: row.counts, claim: row.claim)
        #expect(Self.lines(evidence, row.source)[0] == "signature: \(row.finding)")
    }

    /// A call without Identity may lose its brand: by `own_only`, `must_agree` and `rcd_only`.
    @Test(arguments: [
        (TrustVerdict.Number.none, false, "shadow: the verdict would change the call"),
        (.none, true, "decide: the verdict counts"), (.failed, false, "shadow: the verdict would change the call"),
        (.passed(nil), true, "decide: the verdict counts"),
    ]) func `a verdict that changes the call has that in its finding`(
        number: TrustVerdict.Number, counts: Bool, effect: String
    ) {
        var evidence = Self.evidence(number, [.unsigned], counts: counts)
        evidence.changesCall = true
        #expect(Self.lines(evidence)[0].hasSuffix(", checked here, \(effect)"))
    }

    @Test func `each header field has its cause with meaning and remedy, in order`() {
        let evidence = Self.evidence(.failed, [.passed, .calledMismatch, .noAuthority], code: 438) { $0.unread = 2 }
        #expect(
            Self.lines(evidence, .ownSignature, provider: "567B")[2...] == [
                "Identity 1: passed: the signature is good and fits the call",
                "Identity 2: called_mismatch: dest lacks the called number; see called_number of the trunk; "
                    + "a forwarded call needs a div token",
                "Identity 3: no_authority: the certificate does not cover the number, or lacks the TNAuthList that the "
                    + "regime wants; herald trust list has the signers, and herald trust show the reason",
                "Identity: further fields were not read", "code: 438 (RFC 8224 §6.2.2)",
            ])
    }

    /// Under a regime with `reason: off`, and in shadow, nobody gets the code.
    @Test(arguments: [(false, false, ""), (false, true, ", reported to the trunk"), (true, false, ", the response")])
    func `the code has its use`(isRejected: Bool, isReported: Bool, use: String) {
        var evidence = Self.evidence(.failed, [.calledMismatch], code: 438)
        (evidence.isRejected, evidence.isReported) = (isRejected, isReported)
        #expect(Self.lines(evidence).last == "code: 438 (RFC 8224 §6.2.2)\(use)")
    }

    @Test func `a forwarded call has its diversions, its signed name and its remarks`() {
        let evidence = Self.evidence(.passed(.b), [.passed, .passed]) {
            $0.binding = .chain(diversions: 2)
            $0.name = .verified("Acme")
            for mark in [TrustCause.seenBefore, .origidForm] { $0.marks.insert(mark) }
        }
        #expect(
            Self.lines(evidence)[3...] == [
                "bound to: chain of 2 diversions", "signed name: verified, not written",
                "remarks: origid_form: origid is no UUID; seen_before: the same token came with another call",
            ])
        let unverified = Self.evidence(.passed(.b), [.passed]) { $0.name = .unverified(.rcdName) }
        #expect(Self.lines(unverified).contains("signed name: not verified"))
    }

    @Test(arguments: [
        (NameOrigin.none, "verified, not written"), (.directory, "verified, not written, the brand's name was"),
        (.signature, "verified, written"), (.both, "verified, the brand has the same name"),
    ]) func `a signed name has what became of it`(origin: NameOrigin, finding: String) {
        var evidence = Self.evidence(.passed(.a), [.passed]) { $0.name = .verified("Acme") }
        evidence.nameOrigin = origin
        #expect(Self.lines(evidence).contains("signed name: \(finding)"))
    }

    @Test(arguments: [
        (true, true, "verified, not written, in shadow"), (true, false, "verified, not written"),
        (false, true, "verified, not written"),
    ]) func `no step of a call in shadow says that a name was written`(
        isInShadow: Bool, isNamed: Bool, finding: String
    ) {
        let evidence = Self.evidence(.passed(.a), [.passed]) { $0.name = .verified("Acme") }
        var decision = DecisionEvidence()
        (decision.isInShadow, decision.isNamed) = (isInShadow, isNamed)
        let steps = SignatureSteps(evidence, provider: nil, subject: nil, decision).all
        #expect(steps.first { $0.name == "signed name" }?.finding { $0 } == finding)
    }

    @Test func `each cause has a text for a call, and none speaks of options of the check by hand`() {
        for cause in TrustCause.allCases {
            let text = TrustCauseText.call(cause)
            #expect(!text.isEmpty && !text.contains("--at"), "\(cause.name)")
        }
        #expect(
            TrustCauseText.call(.signerNotYetKnown)
                == "no certificate of the signer is stored; import its chain with herald trust import")
        #expect(TrustCauseText.text(of: .stale) == "the token is too old; for a recorded call give its time with --at")
    }

    // MARK: Withheld callers, foreign text

    @Test func `a withheld caller has no number of the signer and no origid`() {
        let evidence = Self.evidence(.passed(.a), [.passed]) { ($0.signer, $0.origid) = (Self.provider, Self.origid) }
        let delegate = Self.lines(evidence, provider: "12025551000", subject: "+1 202 555 1000", isWithheld: true)
        #expect(!delegate.joined().contains("555") && !delegate.joined().contains("origid: "))
        let nameless = Self.lines(evidence, provider: nil, subject: "+1 202 555 1000", isWithheld: true)
        #expect(!nameless.joined().contains("555"))
        let carrier = Self.lines(evidence, provider: "123A", subject: "Example Carrier", isWithheld: true)
        #expect(carrier[1] == "signer: 123A, Example Carrier, #12 of herald trust list")
        #expect(!carrier.joined().contains("origid: "))
    }

    @Test func `a number in place of a provider code may be masked`() {
        let lines = Self.lines(Self.evidence(.passed(.a), [.passed]), provider: "12025551000", subject: "A shop")
        #expect(lines[1] == "signer: <12025551000>, A shop")
        let named = Self.lines(Self.evidence(.passed(.a), [.passed]), provider: "123A", subject: "CN=+1 202 555 1000")
        #expect(named[1] == "signer: 123A, <CN=+1 202 555 1000>")
    }

    @Test func `a record without a verdict has no steps`() {
        var record = CallRecord(call: CallIdentifier(high: 1, low: 2), direction: .inbound, inviteAt: 0)
        #expect(SignatureSteps(record) == nil)
        record.trust = Self.evidence(.passed(.a), [.passed])
        (record.provider, record.signer) = ("123A", "Example Carrier")
        #expect(SignatureSteps(record)?.all[1].finding { $0 } == "123A, Example Carrier")
    }

    // MARK: The page

    @Test func `the page on signers shows these steps`() throws {
        var found = Self.decision(.assertedIdentity)
        (found.header, found.isTrusted, found.policy) = (.pAssertedIdentity, true, .standard)
        (found.verification, found.lookup) = (.passedA, .noBrand)
        let verdict = Self.evidence(.passed(.b), [.passed, .chainIncomplete], counts: false, claim: .passedA) {
            ($0.origid, $0.binding) = (Self.origid, .calledNumber)
        }
        let signature = SignatureSteps(
            verdict, provider: "123A", subject: "Example Carrier, SHAKEN 123A", found)
        let steps = DecisionSteps(
            evidence: found, reason: .noMatch, caller: "+12025551000", isCertain: true, brand: nil,
            signature: signature.all)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../docs/trust.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        // The command breaks lines at 80 columns, beside the ladder.
        let words = { (text: String) in text.split { $0.isWhitespace || $0 == "│" }.joined(separator: " ") }
        for step in steps.all {
            let line = words("\(step.name) \(TerminalText.visible(step.finding { $0 }))")
            #expect(words(page).contains(line), "\(line)")
        }
    }
}
