// SPDX-License-Identifier: Apache-2.0

import Branding

/// The decision on one INVITE of a call, with the brand of its record.
struct InviteDecision: Hashable, Sendable {
    /// Nil for an INVITE that left with a brand.
    let reason: PassThroughReason?
    let evidence: DecisionEvidence?
    var brandID: String?
    var brandName: String?
    var carrierName: String?
}

// A carrier may send one call by several INVITEs, to trunks and routes with different decisions. The phone that rings may be
// that of an INVITE without a brand, and no directory may bill it.

extension CallRecord {
    /// The decision of the record.
    var decided: InviteDecision {
        get {
            InviteDecision(
                reason: reason, evidence: evidence, brandID: brandID, brandName: brandName, carrierName: carrierName)
        }
        set {
            (reason, evidence) = (newValue.reason, newValue.evidence)
            (brandID, brandName, carrierName) = (newValue.brandID, newValue.brandName, newValue.carrierName)
        }
    }

    /// The decision of the record after another INVITE left without a brand; in shadow the brand stays as the one not written.
    func decided(also reason: PassThroughReason, _ evidence: DecisionEvidence?) -> InviteDecision {
        let other = InviteDecision(reason: reason, evidence: evidence ?? self.evidence)
        guard reason == .shadow else { return other }
        var decided = other
        (decided.brandID, decided.brandName, decided.carrierName) = (brandID, brandName, carrierName)
        return decided
    }
}
