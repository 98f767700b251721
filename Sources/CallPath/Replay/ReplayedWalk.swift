// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Trust

/// The walk of an INVITE from identity to decoration, with the findings of a record in place of a message.
struct ReplayedWalk {
    let call: RecordedCall
    let evidence: DecisionEvidence
    let trunk: TrunkPeer
    /// Nil where no route matches.
    let route: CallRoute?
    let differences: CallReplay.Differences
    let settings: GatewaySettings

    private typealias Result = CallReplay.Result

    /// Decides with the brand of the call's time and with that of the index.
    func decide(in index: BrandIndex, formerBrand: BrandEntry?) -> CallReplay.Replayed {
        let entry = call.caller.flatMap { index.entry(for: $0) }
        let ofTime: BrandEntry? =
            switch evidence.lookup {
            case .brandFound: entry ?? formerBrand
            case .noBrand: nil
            case .notMade: entry
            }
        var replayed = CallReplay.Replayed(result(by: ofTime, hasParts: Parts(entry, in: index)))
        if ofTime != entry { replayed.now = result(by: entry, hasParts: Parts(entry, in: index)) }
        replayed.entry = entry
        replayed.isNamed = isNamed == true
        if replayed.now != .decided(call.reason) { replayed.evidence = findings }
        return replayed
    }

    /// The evidence with the keys of the other settings.
    private var findings: DecisionEvidence {
        var findings = evidence
        findings.isTrusted = trunk.isTrusted
        findings.policy = route?.policy ?? trunk.policy
        findings.isSwitchedOff = !settings.brands
        findings.isTrunkUnbranded = trunk.brands == .off
        findings.isRouteUnbranded = route?.brands == .off
        findings.isInShadow = brands == .shadow
        findings.lookup = isHeldBack ? .notMade : .brandFound
        return findings
    }

    /// Whether attestation and policy exclude a brand.
    private var isHeldBack: Bool {
        guard brands != .off, case .success(let facts) = callEvidence else { return true }
        let found = Branding.decide(facts, policy: route?.policy ?? trunk.policy, gates: BrandingGates()) { _ in nil }
        return found == .passThrough(.policy)
    }

    /// The parts of a brand that Call-Info may carry.
    private struct Parts {
        let hasMore: Bool

        init(_ entry: BrandEntry?, in index: BrandIndex) {
            hasMore = entry.map { index.length(of: .callInfo, $0) > 0 } ?? false
        }
    }

    private func result(by entry: BrandEntry?, hasParts parts: Parts) -> Result {
        if call.trust?.isRejected == true {
            return differences.contains(.signatures) ? .undecided(.signature) : .decided(call.reason)
        }
        // As in `RequestWalk`: before any other rule.
        guard brands != .off else { return .decided(.policy) }
        switch callEvidence {
        case .failure(let undecided): return .undecided(undecided.cause)
        case .success(let facts):
            let found = Branding.decide(
                facts, policy: route?.policy ?? trunk.policy, gates: BrandingGates(recorded: call.reason)
            ) { _ in entry }
            let named = named(found)
            guard case .decided(let reason) = named, reason == nil || reason == .signedName else { return named }
            return wasOff ? .undecided(.brandingOff) : decorated(reason, parts)
        }
    }

    private var brands: BrandMode {
        settings.brands ? trunk.brands.joined(with: route?.brands ?? .on) : .off
    }

    /// Whether the call was not decided at its time.
    private var wasOff: Bool {
        call.reason == .policy && evidence.lookup == .notMade
            && (evidence.isSwitchedOff || evidence.isTrunkUnbranded || evidence.isRouteUnbranded)
    }
}

// MARK: - Identity and verdict

extension ReplayedWalk {
    private struct Undecided: Error { let cause: UndecidedCause }

    /// Whether the record has a fact that excludes a brand on every trunk.
    private var isExcluded: Bool {
        evidence.isWithheld || [.midDialog, .alreadyBranded, .emergency, .privacy].contains(call.reason)
    }

    private var callEvidence: Swift.Result<CallEvidence, Undecided> {
        // A region or a list of its own may have made it an emergency call.
        if differences.contains(.callerKeys), !isExcluded || call.reason == .emergency {
            return .failure(Undecided(cause: .callerKeys))
        }
        var facts = CallEvidence(
            number: call.caller, privacy: evidence.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: evidence.verification, isInitialInvite: call.reason != .midDialog,
            isEmergency: call.reason == .emergency, isSpiral: call.reason == .alreadyBranded)
        if isExcluded { return .success(facts) }
        if differences.contains(.signatures) { return .failure(Undecided(cause: .signature)) }
        if trunk.isTrusted == evidence.isTrusted { return .success(facts) }
        if trunk.isTrusted { return .failure(Undecided(cause: .untrustedClaims)) }
        // Only From counts now. A signature may bear out another number.
        if call.trust?.counts == true { return .failure(Undecided(cause: .signature)) }
        facts.verification = .none
        return .success(facts)
    }

    /// The decision after the names of a signature, as `SignedVerdict.named` weighs them.
    ///
    /// The values of a signature are not recorded. The recorded result stays if the directory's part is the same.
    private func named(_ found: BrandingDecision) -> Result {
        let reason: PassThroughReason?
        switch found {
        case .show: reason = nil
        case .passThrough(.noMatch): reason = .noMatch
        case .passThrough(let other): return .decided(other)
        }
        guard let rules = trunk.signatures, rules.mode == .decide, let trust = call.trust else {
            return .decided(reason)
        }
        guard trust.hasPassed else {
            return .decided(reason == nil && rules.nameSource.needsSignature ? .nameSource : reason)
        }
        guard evidence.lookup == (reason == nil ? .brandFound : .noBrand) else { return .undecided(.signature) }
        if evidence.isNamedBySigner || call.reason == .signedName { return .decided(.signedName) }
        return .decided(call.reason == .nameSource ? .nameSource : reason)
    }
}

// MARK: - Decoration

extension ReplayedWalk {
    /// The decision after decoration, as `InviteDecoration` makes it.
    ///
    /// - Parameter reason: nil for a brand of the directory, `signedName` for values of a signature alone.
    private func decorated(_ reason: PassThroughReason?, _ parts: Parts) -> Result {
        // The size of the INVITE is not recorded.
        if call.reason == .trimmed { return .decided(.trimmed) }
        guard let isNamed else { return .undecided(.carrierName) }
        guard isNamed || settings.writesCallInfo && hasMore(parts) else { return .decided(.policy) }
        return .decided(brands == .shadow ? .shadow : reason)
    }

    /// Whether the brand's name replaces the carrier's; nil if that depends on a name that is not recorded.
    private var isNamed: Bool? {
        if !differences.contains(.carrierName) {
            if wasDecorated { return evidence.isNamed }
            if hadNothingToWrite { return false }
        }
        switch trunk.carrierName {
        case .replace: return true
        case .keep: return false
        case .fill:
            let name = Array(call.carrierName.utf8)[...]
            return CarrierNameText.isName(name, of: call.caller, on: trunk) ? false : nil
        }
    }

    /// Whether the INVITE left with values of brand or signature, or would have in shadow.
    private var wasDecorated: Bool { call.reason == nil || call.reason == .shadow || call.reason == .signedName }

    /// Whether the carrier's name stayed and the brand had neither logo nor reason to write.
    private var hadNothingToWrite: Bool { call.reason == .policy && evidence.lookup == .brandFound }

    /// Whether the brand has a logo or a reason: by the record, else by the index.
    private func hasMore(_ parts: Parts) -> Bool {
        let recorded = [evidence.logo, evidence.callReason]
        if recorded.contains(where: { $0 == .written || $0 == .leftOut }) { return true }
        if recorded.allSatisfy({ $0 == .absent }) { return false }
        return hadNothingToWrite && evidence.writesCallInfo ? false : parts.hasMore
    }
}

extension BrandingGates {
    /// The gates of a call's time: the one that its record names is closed.
    ///
    /// No record has the gates of a call that reached none. They count as open.
    fileprivate init(recorded reason: PassThroughReason?) {
        self.init(obeysVoipDialer: true)
        switch reason {
        case .gatedUnauthorised: authorised = false
        case .gatedAccountStatus: accountStatus = "closed"
        case .gatedCapReached: capReached = true
        case .gatedBrandingDisabled: brandingEnabled = false
        case .gatedVoipDialerDisabled: voipDialerEnabled = false
        case .stale: isStale = true
        default: break
        }
    }
}
