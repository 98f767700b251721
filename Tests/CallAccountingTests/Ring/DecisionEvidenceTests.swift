// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@Suite("The evidence of a decision in 32 bits")
struct DecisionEvidenceTests {
    @Test func `every value of every field is kept, whatever the other fields have`() {
        for (isTrusted, isWithheld) in [(false, true), (true, false)] {
            for header in DecisionEvidence.Header.allCases {
                for verification in Verification.allCases {
                    for source in AttestationSource.allCases {
                        var evidence = Self.everything
                        (evidence.header, evidence.verification, evidence.source) = (header, verification, source)
                        (evidence.isTrusted, evidence.isWithheld) = (isTrusted, isWithheld)
                        let kept = DecisionEvidence(rawValue: evidence.rawValue)
                        #expect(kept.header == header && kept.verification == verification && kept.source == source)
                        #expect(kept.isTrusted == isTrusted && kept.isWithheld == isWithheld)
                        #expect(kept.policy == .permissive && kept.lookup == .brandFound && kept.isNamed)
                        #expect(kept.parts == .logoReasonAndName && kept.writesCallInfo && kept.isSwitchedOff)
                    }
                }
            }
        }
        for policy in BrandingPolicy.allCases {
            for lookup in DecisionEvidence.Lookup.allCases {
                for parts in DecisionEvidence.Parts.allCases {
                    var evidence = Self.everything
                    (evidence.policy, evidence.lookup, evidence.parts) = (policy, lookup, parts)
                    #expect(evidence.policy == policy && evidence.lookup == lookup && evidence.parts == parts)
                    #expect(evidence.source == .configuredHeader && evidence.isTrusted)
                }
            }
        }
    }

    @Test func `stored values keep their meaning, because a ledger outlives a version`() {
        #expect(DecisionEvidence().rawValue == 1 && Self.everything.rawValue == 0x00FF_9B37)
        #expect(!DecisionEvidence(rawValue: 0).isPresent && DecisionEvidence().isPresent)
    }

    @Test func `a route without brands has a bit of its own`() {
        var evidence = DecisionEvidence()
        evidence.isRouteUnbranded = true
        #expect(evidence.rawValue == 1 << 24 | 1 && evidence.isRouteUnbranded && !evidence.isSwitchedOff)
        #expect(!Self.everything.isRouteUnbranded, "ledgers from before this bit have no such route")
    }

    @Test
    func `a card, shadow, a signer's name and a trunk without brands have bits, and a ledger from before has none`() {
        let fields: [(WritableKeyPath<DecisionEvidence, Bool>, UInt32)] = [
            (\.hasCardLink, 13), (\.isInShadow, 29), (\.isTrunkUnbranded, 30), (\.isNamedBySigner, 31),
        ]
        for (change, bit) in fields {
            var evidence = Self.everything
            evidence[keyPath: change] = true
            #expect(evidence.rawValue == Self.everything.rawValue | 1 << bit && evidence[keyPath: change])
            #expect(!Self.everything[keyPath: change])
        }
    }

    @Test(arguments: DecisionEvidence.Part.allCases, DecisionEvidence.Part.allCases)
    func `logo and reason have bits of their own, and a ledger from before has none`(
        logo: DecisionEvidence.Part, callReason: DecisionEvidence.Part
    ) {
        var evidence = Self.everything
        (evidence.logo, evidence.callReason) = (logo, callReason)
        #expect(evidence.logo == logo && evidence.callReason == callReason)
        #expect(evidence.rawValue & 0x1FF_FFFF == Self.everything.rawValue)
        #expect(Self.everything.logo == .unknown && Self.everything.callReason == .unknown)
    }

    @Test func `values of a later version are read as unknown`() {
        let later = DecisionEvidence(rawValue: .max)
        #expect(later.isPresent && later.header == .none && later.source == .none)
    }

    private static let everything: DecisionEvidence = {
        var evidence = DecisionEvidence()
        (evidence.header, evidence.verification, evidence.source) = (.from, .passedC, .configuredHeader)
        (evidence.policy, evidence.lookup, evidence.parts) = (.permissive, .brandFound, .logoReasonAndName)
        (evidence.isTrusted, evidence.isWithheld, evidence.isUnchecked) = (true, true, true)
        (evidence.isSwitchedOff, evidence.isNamed, evidence.writesCallInfo) = (true, true, true)
        return evidence
    }()
}
