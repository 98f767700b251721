// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Primitives
import Trust

/// The verdict on the signed header fields of a call, as steps between its identity and the trust in its trunk.
struct SignatureSteps {
    private typealias Step = DecisionSteps.Step

    private let evidence: TrustEvidence
    /// The signer's provider code or first number; nil if unknown.
    private let provider: String?
    /// The subject of the signer's certificate: foreign text.
    private let subject: String?
    /// The part of the call that decided about the attestation.
    private let source: AttestationSource
    /// True for a call in shadow that would have had a name.
    private let isNameInShadow: Bool

    /// - Parameter decision: the findings of the call's decision; nil for none.
    init(_ evidence: TrustEvidence, provider: String?, subject: String?, _ decision: DecisionEvidence?) {
        let isWithheld = decision?.isWithheld == true
        var evidence = evidence
        if isWithheld { evidence.origid = nil }
        self.evidence = evidence
        source = decision?.source ?? .none
        isNameInShadow = decision.map { $0.isInShadow && $0.isNamed } ?? false
        // A delegate signs for the caller's own number.
        let isHidden = isWithheld && (provider.map(Self.isNumber) ?? true)
        (self.provider, self.subject) = isHidden ? (nil, nil) : (provider, subject)
    }

    /// The steps of a stored call; nil for a call that was not verified.
    init?(_ record: CallRecord) {
        guard let evidence = record.trust else { return nil }
        self.init(evidence, provider: record.provider, subject: record.signer, record.evidence)
    }

    /// The steps of a traced call.
    init(_ traced: TracedSignature, _ decision: DecisionEvidence) {
        self.init(traced.evidence, provider: traced.provider, subject: traced.subject, decision)
    }

    /// All steps; those without a finding are left out.
    var all: [DecisionSteps.Step] {
        let before: [Step?] = [result, signer, origid]
        let after: [Step?] = [binding, name, remarks, code]
        return (before + fields + after).compactMap { $0 }
    }

    private var result: Step {
        Step("signature", "\(TrustWords.result(evidence.result)), checked here, \(effect)\(comparison)")
    }

    /// The effect on the decision.
    private var effect: String {
        let proves = evidence.result.verification != .none
        guard evidence.counts else {
            if evidence.changesCall { return "shadow: the verdict would change the call" }
            return proves ? "shadow: the verdict would count" : "shadow: the verdict would change nothing"
        }
        if !proves { return "decide: the verdict \(evidence.changesCall ? "counts" : "changes nothing")" }
        if evidence.isRejected { return "decide: the call was rejected" }
        return source == .ownSignature
            ? "decide: the verdict counts" : "decide: the verdict is recorded, and something else decided"
    }

    /// The verdict beside the trunk's word; empty where one of the two has none.
    private var comparison: String {
        guard let claim = TrustWords.attestation(evidence.trunkClaim),
            let own = TrustWords.attestation(evidence.result.verification)
        else { return "" }
        return claim == own
            ? "; the trunk reports \(claim) too" : "; the trunk reports \(claim), the signature gives \(own)"
    }

    private var signer: Step? {
        guard provider != nil || subject != nil else { return nil }
        var parts: [Step.Part] = []
        if let provider { parts.append(Self.isNumber(provider) ? .number(provider) : .text(provider)) }
        if let subject {
            if !parts.isEmpty { parts.append(.text(", ")) }
            parts.append(NumberMask.holdsNumber(subject) ? .number(subject) : .text(subject))
        }
        if !evidence.hasPassed { parts.append(.text(", named by the token and not proven")) }
        if evidence.signer > 0 { parts.append(.text(", #\(evidence.signer) of herald trust list")) }
        return Step("signer", parts)
    }

    private var origid: Step? { evidence.origid.map { Step("origid", "\($0)") } }

    /// A step for each header field with its cause.
    private var fields: [Step] {
        let causes = evidence.causes
        var steps = causes.enumerated().map { position, cause in
            Step(causes.count == 1 ? "Identity" : "Identity \(position + 1)", text(of: cause))
        }
        if evidence.hasUnread { steps.append(Step("Identity", "further fields were not read")) }
        return steps
    }

    private var binding: Step? {
        guard evidence.isBound else { return nil }
        return Step("bound to", TrustWords.binding(isBound: true, diversions: evidence.diversions))
    }

    private var name: Step? {
        switch evidence.name {
        case .absent: nil
        case .verified: Step("signed name", "verified, \(use)")
        case .unverified: Step("signed name", "not verified")
        }
    }

    /// The use of a verified name.
    private var use: String {
        switch evidence.nameOrigin {
        case .none: isNameInShadow ? "not written, in shadow" : "not written"
        case .directory: "not written, the brand's name was"
        case .signature: "written"
        case .both: "the brand has the same name"
        }
    }

    private var remarks: Step? {
        let remarks = evidence.marks.map { text(of: $0) }
        return remarks.isEmpty ? nil : Step("remarks", remarks.joined(separator: "; "))
    }

    private var code: Step? {
        guard evidence.code != 0 else { return nil }
        let use = evidence.isRejected ? ", the response" : evidence.isReported ? ", reported to the trunk" : ""
        return Step("code", "\(evidence.code) (RFC 8224 §6.2.2)\(use)")
    }

    private func text(of cause: TrustCause) -> String {
        "\(cause.name): \(TrustCauseText.call(cause))"
    }

    /// True for a telephone number in place of a provider code, which has four characters (ATIS-0300251).
    static func isNumber(_ provider: String) -> Bool {
        provider.utf8.count >= 7 && CanonicalNumber(provider) != nil
    }
}
