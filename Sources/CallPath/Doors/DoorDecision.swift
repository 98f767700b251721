// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The decision on a call whose parts a client states, with what led to it.
struct DoorDecision {
    let caller: CallerIdentity
    let called: StatedRoute
    let trunk: TrunkPeer
    let snapshot: BrandingSnapshot
    /// The decision of the rules, before those of names and of shadow.
    let found: BrandingDecision
    let brands: BrandMode
    /// True if `branding.enabled` was false.
    let isSwitchedOff: Bool
    /// Nil if the caller gets the brand's name.
    var reason: PassThroughReason?
    /// The brand that was found, in shadow too; nil without one.
    var brand: GivenNames.Name?

    /// The findings for the record of a reported call; it has no verification of its own.
    var evidence: DecisionEvidence {
        var evidence = DecisionEvidence()
        evidence.header = .report
        evidence.isWithheld = caller.isWithheld
        evidence.isTrusted = trunk.isTrusted
        evidence.policy = called.route?.policy ?? trunk.policy
        evidence.isSwitchedOff = isSwitchedOff
        evidence.isTrunkUnbranded = trunk.brands == .off
        evidence.isRouteUnbranded = called.route?.brands == .off
        evidence.isInShadow = !isSwitchedOff && brands == .shadow
        evidence.verification = caller.verification
        evidence.lookup = DecisionEvidence.Lookup(found)
        return evidence
    }
}

/// The route of a call by the called number that a client states.
struct StatedRoute {
    /// Nil when unclear.
    let number: E164Number?
    /// Nil where no route matches.
    let route: CallRoute?
    /// Whether the called number is an emergency number of the trunk's region.
    let isEmergency: Bool
    /// Off where a call has no brand whoever calls, or is rejected.
    let brands: BrandMode

    init(of call: StatedCall, on trunk: TrunkPeer, _ routes: CallRoutes) {
        // Only a route depends on it, not a brand. So two readings are decided as in a call: the number of the region counts.
        number =
            StatedNumber.read(call.called, by: trunk.normaliser)
            ?? trunk.normaliser.normalise(StatedNumber.trimmed(call.called))
        route = routes.route(of: number)
        isEmergency = !call.called.isEmpty && trunk.emergencyNumbers.contains(call.called.span, call.called.indices)
        brands = route?.brands ?? (routes.unmatched == .reject ? .off : .on)
    }
}
