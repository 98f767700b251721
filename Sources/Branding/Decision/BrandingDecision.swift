// SPDX-License-Identifier: Apache-2.0

/// The result of a branding decision.
public enum BrandingDecision: Hashable, Sendable {
    /// Write this brand into the INVITE.
    case show(BrandEntry)
    /// Forward the INVITE without a brand.
    case passThrough(PassThroughReason)
}

/// Decides whether an INVITE gets a brand, and which one.
///
/// Pure; thread-safe; allocates nothing. The order of the checks yields the most useful reason:
///
/// 1. requests that never get a brand: in-dialog requests, spirals, emergency calls;
/// 2. privacy, before any use of the number;
/// 3. the caller's right to the number. A failed check rejects first, then the trunk's policy applies. An unchecked
///    call from an untrusted trunk gets `untrusted`; every other rejection gets `policy`;
/// 4. the number: not certain, or not in the index;
/// 5. the directory's gates. They come last, so a gate is the reason only if the call had a brand. An unknown number
///    never counts as held back by a gate.
public func decide(
    _ evidence: CallEvidence, policy: BrandingPolicy, gates: BrandingGates, index: BrandIndex
) -> BrandingDecision {
    decide(evidence, policy: policy, gates: gates) { index.entry(for: $0) }
}

/// Decides with a lookup of its own, as for a recorded call whose brand may have left the index since.
///
/// - Parameter lookUp: the brand of a number; called once at most, after all checks of the caller.
@inline(__always)
public func decide(
    _ evidence: CallEvidence, policy: BrandingPolicy, gates: BrandingGates, lookUp: (E164Number) -> BrandEntry?
) -> BrandingDecision {
    if !evidence.isInitialInvite || evidence.hasReplaces { return .passThrough(.midDialog) }
    if evidence.isSpiral { return .passThrough(.alreadyBranded) }
    if evidence.isEmergency { return .passThrough(.emergency) }
    if evidence.privacy { return .passThrough(.privacy) }
    if let reason = objection(to: evidence, policy: policy) { return .passThrough(reason) }
    guard let number = evidence.number else { return .passThrough(.numberUnclear) }
    guard let entry = lookUp(number) else { return .passThrough(.noMatch) }
    if let gate = gates.closed { return .passThrough(gate) }
    return .show(entry)
}

/// Checks the verification level against the trunk's policy; nil if the caller may be named.
private func objection(to evidence: CallEvidence, policy: BrandingPolicy) -> PassThroughReason? {
    switch evidence.verification {
    case .failed: return .failedVerification
    case .none where !evidence.trunkTrusted: return .untrusted
    case .none: return policy == .strict ? .policy : nil
    case .passedA, .passedB, .passedC: return policy.accepts(evidence.verification) ? nil : .policy
    }
}
