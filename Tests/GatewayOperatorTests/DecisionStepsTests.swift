// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

@testable import GatewayOperator

@Suite("The steps of a decision, as a trace, a command and a page show them")
struct DecisionStepsTests {
    private static func evidence(_ change: (inout DecisionEvidence) -> Void = { _ in }) -> DecisionEvidence {
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isTrusted, evidence.policy) = (.pAssertedIdentity, true, .standard)
        (evidence.lookup, evidence.writesCallInfo) = (.brandFound, true)
        change(&evidence)
        return evidence
    }

    private static func steps(
        _ evidence: DecisionEvidence, _ reason: PassThroughReason?, caller: String? = "+61491570156",
        isCertain: Bool = true, brand: String? = nil
    ) -> [String] {
        DecisionSteps(evidence: evidence, reason: reason, caller: caller, isCertain: isCertain, brand: brand).all.map {
            $0.finding { "<\($0)>" }
        }
    }

    @Test func `a branded call has each step with its finding`() {
        let evidence = Self.evidence {
            ($0.verification, $0.source) = (.passedA, .attestationIndicator)
            ($0.parts, $0.isNamed) = (.reasonAndName, true)
            ($0.logo, $0.callReason) = (.leftOut, .written)
        }
        #expect(
            Self.steps(evidence, nil, brand: "Acme Bank (b-7)") == [
                "caller <+61491570156> from P-Asserted-Identity",
                "trusted trunk, attestation A in P-Attestation-Indicator, the trunk's word",
                "policy standard: satisfied",
                "brand Acme Bank (b-7)", "gates open",
                "name written, Call-Info with the brand's reason, logo left out for max_datagram",
            ])
    }

    @Test func `a call in shadow has the parts that were not written`() {
        let evidence = Self.evidence {
            ($0.isInShadow, $0.isNamed, $0.logo, $0.callReason) = (true, true, .written, .absent)
        }
        #expect(
            Self.steps(evidence, .shadow, brand: "Acme Bank (b-7)").suffix(4) == [
                "policy standard: satisfied", "brand Acme Bank (b-7)", "gates open",
                "nothing written, in shadow; with brands: true name written, Call-Info with the brand's logo",
            ])
        let signed = Self.evidence {
            ($0.isInShadow, $0.isNamed, $0.logo, $0.callReason) = (true, true, .absent, .written)
            $0.isNamedBySigner = true
        }
        #expect(
            Self.steps(signed, .shadow, brand: "Acme Bank").suffix(3) == [
                "a brand was found, and the signed name was taken", "gates open",
                "nothing written, in shadow; with brands: true the signed name written, Call-Info with the signature's "
                    + "reason, the signature has no usable logo",
            ])
        let off = Self.evidence { ($0.isTrunkUnbranded, $0.lookup) = (true, .notMade) }
        #expect(Self.steps(off, .policy).contains("policy standard: not asked, the trunk has brands: false"))
    }

    private static let parts: [(logo: DecisionEvidence.Part, callReason: DecisionEvidence.Part, finding: String)] = [
        (.written, .written, "Call-Info with the brand's logo and reason"),
        (.written, .absent, "Call-Info with the brand's logo"),
        (.absent, .written, "Call-Info with the brand's reason, the brand has no usable logo"),
        (.absent, .absent, "no Call-Info, the brand has no reason and no usable logo"),
        (.leftOut, .leftOut, "no Call-Info, logo and reason left out for max_datagram"),
        (.leftOut, .absent, "no Call-Info, logo left out for max_datagram"),
        (.absent, .leftOut, "no Call-Info, reason left out for max_datagram, the brand has no usable logo"),
        (.unknown, .unknown, "parts of Call-Info not recorded by the version of that time"),
    ]

    @Test(arguments: parts.indices) func `Call-Info is described as it was written`(place: Int) {
        let (logo, callReason, finding) = Self.parts[place]
        let evidence = Self.evidence {
            ($0.isNamed, $0.logo, $0.callReason, $0.parts) = (true, logo, callReason, .logoReasonAndName)
        }
        #expect(Self.steps(evidence, nil, brand: "Acme Bank")[5] == "name written, \(finding)")
    }

    @Test func `a card in Call-Info is named, beside a name alone too`() {
        let evidence = Self.evidence {
            ($0.isNamed, $0.logo, $0.callReason, $0.hasCardLink) = (true, .absent, .absent, true)
        }
        #expect(
            Self.steps(evidence, nil, brand: "Acme Bank")[5]
                == "name written, no Call-Info with logo or reason, the brand "
                + "has no reason and no usable logo, Call-Info with the brand's card")
    }

    @Test func `the step that stopped the call is named`() {
        let failed = Self.evidence {
            ($0.verification, $0.source, $0.lookup) = (.failed, .assertedIdentity, .notMade)
        }
        #expect(
            Self.steps(failed, .failedVerification)[1...3].joined(separator: "; ") == """
                trusted trunk, failed check in verstat of P-Asserted-Identity, the trunk's word; \
                policy standard: no brand after a failed check; no lookup
                """)
        let strict = Self.evidence { ($0.policy, $0.lookup) = (.strict, .notMade) }
        #expect(Self.steps(strict, .policy)[2] == "policy strict: needs a better attestation")
        let off = Self.evidence { ($0.isSwitchedOff, $0.lookup) = (true, .notMade) }
        #expect(Self.steps(off, .policy)[2] == "policy standard: not asked, branding.enabled is false")
        #expect(Self.steps(Self.evidence(), .gatedCapReached)[4] == "gate closed, gated:cap_reached")
        #expect(Self.steps(Self.evidence(), .stale)[4] == "gate closed, stale")
        #expect(Self.steps(Self.evidence(), .trimmed)[5] == "nothing written, the name does not fit into max_datagram")
        let unknown = Self.evidence { $0.lookup = .noBrand }
        #expect(Self.steps(unknown, .noMatch)[3...4] == ["no brand has the number", "gates not asked"])
        let foreign = Self.evidence { ($0.isTrusted, $0.header, $0.lookup) = (false, .from, .notMade) }
        #expect(Self.steps(foreign, .untrusted)[1] == "untrusted trunk, its attestation does not count")
    }

    private static let own: [(isTrusted: Bool, verification: Verification, finding: String)] = [
        (true, .passedA, "trusted trunk, attestation A by the signature, checked here"),
        (false, .passedA, "untrusted trunk, attestation A by the signature, checked here"),
        (false, .failed, "untrusted trunk, failed check by the signature, checked here"),
    ]

    @Test(arguments: own.indices) func `an attestation that was checked here is not the trunk's word`(place: Int) {
        let (isTrusted, verification, finding) = Self.own[place]
        let evidence = Self.evidence {
            ($0.isTrusted, $0.verification, $0.source) = (isTrusted, verification, .ownSignature)
        }
        #expect(Self.steps(evidence, .noMatch)[1] == finding)
    }

    @Test func `each source of an attestation but none is the trunk's word or checked here`() {
        for source in AttestationSource.allCases where source != .none {
            let finding = Self.steps(Self.evidence { ($0.verification, $0.source) = (.passedB, source) }, .noMatch)[1]
            #expect(finding.hasSuffix(source == .ownSignature ? ", checked here" : ", the trunk's word"), "\(finding)")
        }
    }

    @Test func `a route without brands is the finding, not its policy`() {
        let evidence = Self.evidence { ($0.isRouteUnbranded, $0.policy, $0.lookup) = (true, .strict, .notMade) }
        #expect(
            Self.steps(evidence, .policy)[2]
                == "policy strict: not asked, the route of the called number has brands: false")
    }

    @Test func `an unclear caller is shown as received, a withheld one not at all`() {
        let unclear = Self.evidence { ($0.header, $0.lookup) = (.from, .notMade) }
        #expect(
            Self.steps(unclear, .numberUnclear, caller: "570157", isCertain: false)[0]
                == "caller not certain, from From: <570157>")
        let withheld = Self.evidence { ($0.isWithheld, $0.header, $0.lookup) = (true, .none, .notMade) }
        let steps = Self.steps(withheld, .privacy)
        #expect(steps[0] == "the caller withholds the number" && !steps.joined().contains("157"))
    }

    @Test func `a trace shows the caller as its reader may see the call`() {
        var decision = TracedDecision()
        (decision.caller, decision.evidence) = (E164Number("+61491570156"), Self.evidence())
        #expect(decision.evidence(.full, brand: "").contains("caller +61491570156 from"))
        #expect(decision.evidence(.masked, brand: "").contains("caller +61******156 from"))
        #expect(decision.evidence(.withheld, brand: "").contains("caller *** from"))
    }

    /// The lookup, the written parts of Call-Info, and the findings of lookup and decoration.
    @Test(arguments: [
        (DecisionEvidence.Lookup.noBrand, true, "no brand has the number", "the signed name written, "),
        (.brandFound, true, "a brand was found, and the signed name was taken", "the signed name written, "),
        (.noBrand, false, "no brand has the number", "the carrier's name stays, "),
    ]) func `signed values are no brand`(
        lookup: DecisionEvidence.Lookup, isNamed: Bool, found: String, written: String
    ) {
        let evidence = Self.evidence {
            ($0.lookup, $0.isNamed, $0.writesCallInfo) = (lookup, isNamed, true)
            ($0.logo, $0.callReason) = (.absent, .written)
        }
        let steps = Self.steps(evidence, .signedName)
        #expect(steps[3] == found)
        #expect(
            steps[5] == written + "Call-Info with the signature's reason, the signature has no usable logo")
    }

    @Test func `a brand that the source of names excludes was found`() {
        let steps = Self.steps(Self.evidence { $0.lookup = .brandFound }, .nameSource)
        #expect(steps[5] == "nothing written, name_source of the trunk excludes the brand's name")
        #expect(steps[4] == "gates open")
    }

    @Test func `every reason has six steps without an empty finding`() {
        for reason in PassThroughReason.allCases + [nil] {
            for lookup in DecisionEvidence.Lookup.allCases {
                let steps = Self.steps(Self.evidence { $0.lookup = lookup }, reason)
                #expect(steps.count == 6 && steps.allSatisfy { !$0.isEmpty })
            }
        }
    }
}
