// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Branding decision")
struct BrandingDecisionTests {
    static let known: UInt64 = 61_255_501_234
    static let unknown: UInt64 = 61_255_509_999

    struct Row: Sendable, CustomTestStringConvertible {
        let source: String
        let verification: Verification
        let trunkTrusted: Bool
        let standard: PassThroughReason?
        let strict: PassThroughReason?
        let permissive: PassThroughReason?

        var testDescription: String { "\(verification), trunk \(trunkTrusted ? "trusted" : "untrusted"): \(source)" }
    }

    static func index() throws -> BrandIndex {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1)
        builder.add(try BrandIndexTests.record(known, "Acme"))
        return builder.finish()
    }

    static func evidence(_ change: (inout CallEvidence) -> Void = { _ in }) -> CallEvidence {
        var evidence = CallEvidence(number: E164Number(digits: known), trunkTrusted: true)
        change(&evidence)
        return evidence
    }

    static func reason(
        _ evidence: CallEvidence, policy: BrandingPolicy = .standard, gates: BrandingGates = .init()
    ) throws -> PassThroughReason? {
        let index = try index()
        switch decide(evidence, policy: policy, gates: gates, index: index) {
        case .passThrough(let reason): return reason
        case .show(let entry):
            #expect(index.text(.name, entry) == "Acme")
            return nil
        }
    }

    @Test(arguments: [
        Row(
            source: "RFC 8588 §4 full attestation", verification: .passedA, trunkTrusted: true,
            standard: nil, strict: nil, permissive: nil),
        Row(
            source: "a PASSporT checked here needs no trust in the trunk, RFC 8224 §6.2", verification: .passedA,
            trunkTrusted: false, standard: nil, strict: nil, permissive: nil),
        Row(
            source: "RFC 8588 §4 partial attestation", verification: .passedB, trunkTrusted: true,
            standard: nil, strict: .policy, permissive: nil),
        Row(
            source: "RFC 8588 §4 gateway attestation", verification: .passedC, trunkTrusted: true,
            standard: .policy, strict: .policy, permissive: nil),
        Row(
            source: "TS 24.229 §7.2A.20 TN-Validation-Failed", verification: .failed, trunkTrusted: true,
            standard: .failedVerification, strict: .failedVerification, permissive: .failedVerification),
        Row(
            source: "a failed check from anyone", verification: .failed, trunkTrusted: false,
            standard: .failedVerification, strict: .failedVerification, permissive: .failedVerification),
        Row(
            source: "no Identity, RFC 3325 §3 trust domain", verification: .none, trunkTrusted: true,
            standard: nil, strict: .policy, permissive: nil),
        Row(
            source: "no Identity, outside the trust domain", verification: .none, trunkTrusted: false,
            standard: .untrusted, strict: .untrusted, permissive: .untrusted),
    ])
    func `verification, trust and policy decide as in the table`(row: Row) throws {
        let evidence = Self.evidence {
            $0.verification = row.verification
            $0.trunkTrusted = row.trunkTrusted
        }
        #expect(try Self.reason(evidence, policy: .standard) == row.standard)
        #expect(try Self.reason(evidence, policy: .strict) == row.strict)
        #expect(try Self.reason(evidence, policy: .permissive) == row.permissive)
    }

    @Test(arguments: BrandingPolicy.allCases, Verification.allCases)
    func `a caller with privacy never gets a brand`(
        policy: BrandingPolicy, verification: Verification
    ) throws {
        for isTrusted in [true, false] {
            let evidence = Self.evidence {
                $0.privacy = true
                $0.verification = verification
                $0.trunkTrusted = isTrusted
            }
            #expect(try Self.reason(evidence, policy: policy) == .privacy)
        }
    }

    @Test(arguments: [
        ("RFC 3261 §12.2 a request inside a dialog", PassThroughReason.midDialog) as (String, PassThroughReason),
        ("RFC 3891 §3 Replaces", .midDialog),
        ("RFC 3261 §16.3 a spiral", .alreadyBranded),
        ("RFC 5031, RFC 7090, RFC 4412", .emergency),
        ("RFC 3323 §4.2 Privacy", .privacy),
        ("a number that is not certain", .numberUnclear),
        ("a number without a brand", .noMatch),
    ])
    func `every call without a brand has its reason`(source: String, expected: PassThroughReason) throws {
        let evidence = Self.evidence {
            switch source {
            case let text where text.contains("inside a dialog"): $0.isInitialInvite = false
            case let text where text.contains("Replaces"): $0.hasReplaces = true
            case let text where text.contains("spiral"): $0.isSpiral = true
            case let text where text.contains("RFC 5031"): $0.isEmergency = true
            case let text where text.contains("Privacy"): $0.privacy = true
            case let text where text.contains("not certain"): $0.number = nil
            default: $0.number = E164Number(digits: Self.unknown)
            }
        }
        #expect(try Self.reason(evidence) == expected)
    }

    @Test func `the first of several reasons in documented order is returned`() throws {
        var evidence = CallEvidence(
            number: nil, privacy: true, trunkTrusted: false, verification: .failed, isInitialInvite: false,
            isEmergency: true, isSpiral: true, hasReplaces: true)
        let gates = BrandingGates(brandingEnabled: false)
        #expect(try Self.reason(evidence, gates: gates) == .midDialog)
        evidence.isInitialInvite = true
        #expect(try Self.reason(evidence, gates: gates) == .midDialog)
        evidence.hasReplaces = false
        #expect(try Self.reason(evidence, gates: gates) == .alreadyBranded)
        evidence.isSpiral = false
        #expect(try Self.reason(evidence, gates: gates) == .emergency)
        evidence.isEmergency = false
        #expect(try Self.reason(evidence, gates: gates) == .privacy)
        evidence.privacy = false
        #expect(try Self.reason(evidence, gates: gates) == .failedVerification)
        evidence.verification = .none
        #expect(try Self.reason(evidence, gates: gates) == .untrusted)
        evidence.trunkTrusted = true
        #expect(try Self.reason(evidence, policy: .strict, gates: gates) == .policy)
        #expect(try Self.reason(evidence, gates: gates) == .numberUnclear)
        evidence.number = E164Number(digits: Self.unknown)
        #expect(try Self.reason(evidence, gates: gates) == .noMatch)
        evidence.number = E164Number(digits: Self.known)
        #expect(try Self.reason(evidence, gates: gates) == .gatedBrandingDisabled)
        #expect(try Self.reason(evidence) == nil)
    }

    // Source: securenode-endpoint-contract §5 and §11.
    @Test(arguments: [
        (BrandingGates(authorised: false), PassThroughReason.gatedUnauthorised),
        (BrandingGates(accountStatus: "suspended"), .gatedAccountStatus),
        (BrandingGates(accountStatus: "Canceled"), .gatedAccountStatus),
        (BrandingGates(accountStatus: "cancelled"), .gatedAccountStatus),
        (BrandingGates(accountStatus: "closed"), .gatedAccountStatus),
        (BrandingGates(accountStatus: ""), nil),
        (BrandingGates(accountStatus: "ok"), nil),
        (BrandingGates(accountStatus: "past_due"), nil),
        (BrandingGates(brandingEnabled: false, accountStatus: "past_due"), .gatedBrandingDisabled),
        (BrandingGates(brandingEnabled: false), .gatedBrandingDisabled),
        (BrandingGates(voipDialerEnabled: false, obeysVoipDialer: true), .gatedVoipDialerDisabled),
        (BrandingGates(voipDialerEnabled: true, obeysVoipDialer: true), nil),
        (BrandingGates(voipDialerEnabled: false), nil),
        (BrandingGates(capReached: true), .gatedCapReached),
        (BrandingGates(accountStatus: "trial"), nil),
        (BrandingGates(), nil),
    ])
    func `a closed gate stops a brand that would be shown`(
        gates: BrandingGates, expected: PassThroughReason?
    ) throws {
        #expect(try Self.reason(Self.evidence(), gates: gates) == expected)
        #expect(gates.all.allSatisfy(\.isOpen) == (expected == nil))
        // A status set later has the same effect as a status set at creation.
        var later = gates
        later.accountStatus = "trial"
        later.accountStatus = gates.accountStatus
        #expect(later == gates)
        #expect(expected?.isGate != false)
    }

    @Test(arguments: PassThroughReason.allCases) func `the reasons that are gates have the names of gates`(
        reason: PassThroughReason
    ) {
        #expect(reason.isGate == reason.description.hasPrefix("gated:"))
    }
}
