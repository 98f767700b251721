// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Trust

/// The verdict on the signed header fields of a call, and what follows from it.
struct SignedVerdict {
    let verdict: TrustVerdict
    /// The verdict for ring and ledger.
    var evidence: TrustEvidence
    /// The verification that the decision takes, and its source.
    let verification: Verification
    let source: AttestationSource
    /// Whether the signature is good and for the number that the message shows.
    let isForShownNumber: Bool
    /// Whether the trunk rejects the call for the verdict, or would in shadow.
    let isToBeRejected: Bool
    /// The verification that a verdict which counts would give.
    private let counted: Verification
}

extension SignedVerdict {
    /// Weighs a verdict against the trunk's word.
    ///
    /// - Parameters:
    ///   - identity: the caller as the message shows it. A signature for another number proves nothing for this one.
    ///   - number: that caller's number in canonical form.
    init(
        _ verdict: TrustVerdict, of identity: CallerIdentity, _ number: CanonicalNumber?, under rules: TrunkSignatures
    ) {
        let claim = identity.verification
        self.verdict = verdict
        evidence = TrustEvidence(
            verdict, counts: rules.mode == .decide, trunkClaim: claim,
            code: rules.policy.regimes.first.flatMap { verdict.code(under: $0) })
        isToBeRejected = rules.onFailed == .reject && evidence.result == .failed
        evidence.isRejected = rules.mode == .decide && isToBeRejected
        evidence.isReported =
            rules.mode == .decide && evidence.code != 0 && !evidence.isRejected
            && rules.policy.regimes.first.map { $0.reason != .off } ?? false
        isForShownNumber = number != nil && verdict.caller == number && evidence.hasPassed
        let own = Self.own(evidence.result, isForShownNumber, rules)
        let counted = Self.weigh(own, against: claim, rules.source)
        let isOwn = counted == own && counted != .none && (counted != claim || rules.source != .trunkFirst)
        self.counted = counted
        if rules.mode == .decide {
            verification = counted
            source = isOwn ? .ownSignature : counted == .none ? .none : identity.attestation.source
        } else {
            (verification, source) = (claim, identity.attestation.source)
        }
    }

    /// The verification of the number that the message shows.
    private static func own(
        _ result: TrustEvidence.Result, _ isForShownNumber: Bool, _ rules: TrunkSignatures
    ) -> Verification {
        switch result.verification {
        case .failed: rules.onFailed == .pass ? .none : .failed
        case let passed: isForShownNumber ? passed : .none
        }
    }

    private static func weigh(
        _ own: Verification, against claim: Verification, _ source: TrunkSignatures.Source
    ) -> Verification {
        switch source {
        case .ownOnly: own
        case .ownFirst: own == .none ? claim : own
        case .trunkFirst: claim == .none ? own : claim
        // The raw values lie in order, from A to failed.
        case .worst: own == .none || own.rawValue < claim.rawValue ? claim : own
        }
    }

    /// Whether the verdict takes the place of what a trusted trunk states.
    var replacesTrunkClaim: Bool {
        evidence.counts && source == .ownSignature && evidence.trunkClaim != .none
            && evidence.trunkClaim != verification
    }

    /// The verification that was not taken: by the trunk's word where the verdict counts, by the verdict in shadow.
    ///
    /// Nil where both are the same.
    func otherVerification(than claim: Verification) -> Verification? {
        counted == claim ? nil : evidence.counts ? claim : counted
    }

    /// The response of a trunk that rejects failed calls; nil for a call that goes on.
    var refusal: FailureResponse? {
        guard evidence.isRejected else { return nil }
        let code = evidence.code == 0 ? 403 : evidence.code
        return FailureResponse(Int(code), IdentityPhrase.text(of: code))
    }
}
