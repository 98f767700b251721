// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Trust

extension DecisionEvidence {
    /// Collects what the walk of an INVITE found: values that it has, no second look at the message.
    init(_ context: borrowing InboundContext, _ decorated: DecoratedInvite, _ settings: GatewaySettings) {
        self.init()
        let (identity, trunk) = (context.identity, context.trunk)
        isWithheld = identity.isWithheld
        isTrusted = trunk.isTrusted
        policy = context.called.policy(on: trunk)
        isSwitchedOff = !settings.brands
        isTrunkUnbranded = trunk.brands == .off
        isRouteUnbranded = context.called.route?.brands == .off
        isInShadow = settings.brands && context.isInShadow
        writesCallInfo = settings.writesCallInfo
        if !identity.isWithheld { header = Header(identity.header) }
        verification = context.signed?.verification ?? identity.attestation.verification
        source = context.signed?.source ?? identity.attestation.source
        isUnchecked = identity.attestation.isUnchecked
        lookup = Lookup(context.found)
        guard decorated.isDecorated else { return }
        parts = Parts(decorated.decorate)
        isNamed = decorated.isNamed
        isNamedBySigner = decorated.entry == nil
        hasCardLink = decorated.hasCardLink
        guard settings.writesCallInfo else { return }
        let fitting = decorated.decorate
        let (hasLogo, hasReason) = Self.parts(of: decorated, in: context.index)
        logo = Part(isPresent: hasLogo, fits: fitting == .logoReasonAndName)
        callReason = Part(
            isPresent: hasReason, fits: fitting == .logoReasonAndName || fitting == .reasonAndName)
    }
}

extension DecisionEvidence {
    /// Whether the brand or the card has a logo and a reason.
    private static func parts(of decorated: DecoratedInvite, in index: BrandIndex) -> (logo: Bool, reason: Bool) {
        if let card = decorated.card { return (card.hasLogo, card.hasReason) }
        guard let entry = decorated.entry else { return (false, false) }
        return (index.hasLogo(entry), index.length(of: .callInfoReasonOnly, entry) > 0)
    }
}

extension TrustEvidence {
    /// The verdict of a call for the records, with the place that the written name comes from; none in shadow.
    init?(_ context: borrowing InboundContext, _ decorated: DecoratedInvite) {
        guard let signed = context.signed else { return nil }
        self = signed.evidence
        if !decorated.dialog.isNamed { nameOrigin = .none }
    }
}

extension DecisionEvidence.Header {
    fileprivate init(_ header: IdentityHeader?) {
        switch header {
        case .pAssertedIdentity: self = .pAssertedIdentity
        case .remotePartyID: self = .remotePartyID
        case .from: self = .from
        case nil: self = .none
        }
    }
}

extension DecisionEvidence.Lookup {
    /// `decide` looks a number up before it asks the gates.
    init(_ decision: BrandingDecision) {
        switch decision {
        case .show: self = .brandFound
        case .passThrough(.noMatch): self = .noBrand
        case .passThrough(let reason) where reason.isGate || reason == .stale: self = .brandFound
        case .passThrough: self = .notMade
        }
    }
}

extension DecisionEvidence.Parts {
    fileprivate init(_ level: BrandingLevel) {
        switch level {
        case .logoReasonAndName: self = .logoReasonAndName
        case .reasonAndName: self = .reasonAndName
        case .name: self = .name
        case .nothing: self = .none
        }
    }
}
