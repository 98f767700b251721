// SPDX-License-Identifier: Apache-2.0

/// What is to become of a call.
package enum BrandingDecision: Hashable, Sendable {
    /// Show this brand.
    case show(BrandEntry)
    /// Forward without a brand.
    case passThrough(PassThroughReason)
}

/// Whether a call is shown with a brand, and with which.
///
/// Pure; any thread; allocates nothing. The questions stand in an order that gives the most telling reason:
///
/// 1. calls that are never looked at, whoever calls: part of a dialog, seen before, emergency;
/// 2. privacy, before anything touches the number;
/// 3. the right to the number: a failed check, then the policy's table, where an unchecked call of an untrusted trunk
///    is `untrusted` and everything else the policy turns down is `policy`;
/// 4. the number itself: not certain, or not in the index;
/// 5. the directory's gates, last: a gate is the reason only for a call that would have been branded, so a stranger's
///    number is never reported as one that a gate held back.
package func decide(
    _ evidence: CallEvidence, policy: BrandingPolicy, gates: BrandingGates, index: BrandIndex
) -> BrandingDecision {
    if !evidence.isInitialInvite || evidence.hasReplaces { return .passThrough(.midDialog) }
    if evidence.isSpiral { return .passThrough(.alreadyBranded) }
    if evidence.isEmergency { return .passThrough(.emergency) }
    if evidence.privacy { return .passThrough(.privacy) }
    if let reason = objection(to: evidence, policy: policy) { return .passThrough(reason) }
    guard let number = evidence.number else { return .passThrough(.numberUnclear) }
    guard let entry = index.entry(for: number) else { return .passThrough(.noMatch) }
    if let gate = gates.closed { return .passThrough(gate) }
    return .show(entry)
}

/// The gate matrix of evidence and policy; nil when the caller may be named.
private func objection(to evidence: CallEvidence, policy: BrandingPolicy) -> PassThroughReason? {
    switch evidence.verification {
    case .failed: return .failedVerification
    case .none where !evidence.trunkTrusted: return .untrusted
    case .none: return policy == .strict ? .policy : nil
    case .passedA, .passedB, .passedC: return policy.accepts(evidence.verification) ? nil : .policy
    }
}
