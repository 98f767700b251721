// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

extension DecisionEvidence {
    /// Collects what the walk of an INVITE found: values that it has, no second look at the message.
    init(_ context: borrowing InboundContext, _ decorated: DecoratedInvite, _ settings: GatewaySettings) {
        self.init()
        let (identity, trunk) = (context.identity, context.trunk)
        isWithheld = identity.isWithheld
        isTrusted = trunk.isTrusted
        policy = context.called.policy(on: trunk)
        isSwitchedOff = !settings.brands
        isRouteUnbranded = !context.called.brands
        writesCallInfo = settings.writesCallInfo
        if !identity.isWithheld { header = Header(identity.header) }
        verification = context.signed?.verification ?? identity.attestation.verification
        source = context.signed?.source ?? identity.attestation.source
        isUnchecked = identity.attestation.isUnchecked
        lookup = Lookup(context.decision)
        guard let entry = decorated.entry else { return }
        parts = Parts(decorated.decorate)
        isNamed = decorated.dialog.isNamed
        guard settings.writesCallInfo else { return }
        let fitting = decorated.decorate
        logo = Part(isPresent: context.index.hasLogo(entry), fits: fitting == .logoReasonAndName)
        callReason = Part(
            isPresent: context.index.length(of: .callInfoReasonOnly, entry) > 0,
            fits: fitting == .logoReasonAndName || fitting == .reasonAndName)
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
    fileprivate init(_ decision: BrandingDecision) {
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
