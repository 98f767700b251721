// SPDX-License-Identifier: Apache-2.0

import Branding
public import CallAccounting
import SIPCore
import Trust

/// Names callers for the clients of doors, by the decision and on the snapshot that calls use.
///
/// A door and a call of the same trunk give the same name. A call by a door is a call without signed header fields. Any
/// thread; it waits for nothing, and does no I/O. It changes no state of the call path.
public struct DoorNames: Sendable {
    let settings: CurrentSettings
    let branding: CurrentBranding
    let trust: GatewayTrust
    let trunk: String
    /// Keeps the names of brands for reports of their calls; nil without such reports.
    let given: GivenNames?

    /// Bytes of a present name that are read. A name of 200 bytes fits with every byte escaped.
    private static let mostNameBytes = 1024

    /// - Parameters:
    ///   - branding: the brands of calls without a customer.
    ///   - trunk: the name of the trunk whose rules apply. Without such a trunk no caller has a brand.
    ///   - given: keeps the names of brands for the reports of their calls.
    public init(
        _ settings: CurrentSettings, _ branding: CurrentBranding, _ trust: GatewayTrust, trunk: String,
        given: GivenNames? = nil
    ) {
        (self.settings, self.branding, self.trust) = (settings, branding, trust)
        (self.trunk, self.given) = (trunk, given)
    }

    /// The name of a caller at this instant.
    public func name(of call: StatedCall) -> CallerName {
        guard let decision = decision(on: call) else {
            return Self.present(call, nil, .untrusted, branding.load())
        }
        let (number, snapshot) = (decision.caller.number, decision.snapshot)
        guard let brand = decision.brand else {
            return Self.present(call, number, decision.reason ?? .error, snapshot)
        }
        if let reason = decision.reason { return Self.present(call, number, reason, snapshot) }
        if let given, let number { given.add(brand, of: number) }
        return CallerName(text: brand.text, brandID: brand.brandID, number: number, reason: nil)
    }

    /// The decision on a call at this instant; nil without the trunk.
    func decision(on call: StatedCall) -> DoorDecision? {
        let settings = settings.load()
        guard let trunk = settings.topology.trunks.first(where: { $0.name == self.trunk }) else { return nil }
        let called = StatedRoute(of: call, on: trunk, settings.topology.routes)
        let snapshot = (called.route?.customer?.branding ?? branding).load()
        let caller = CallerIdentity(of: call, on: trunk)
        let brands = trunk.brands.joined(with: called.brands)
        let found = decision(on: call, caller, called, trunk, brands, settings, snapshot)
        var decision = DoorDecision(
            caller: caller, called: called, trunk: trunk, snapshot: snapshot, found: found, brands: brands,
            isSwitchedOff: !settings.brands)
        switch found {
        case .passThrough(let reason): decision.reason = reason
        case .show where !Self.replacesName(of: call, caller.number, on: trunk): decision.reason = .policy
        case .show(let entry):
            let index = snapshot.index
            decision.brand = GivenNames.Name(
                text: index.text(.name, entry), brandID: index.text(.brandID, entry),
                customer: called.route?.customer?.mark ?? 0)
            if brands == .shadow { decision.reason = .shadow }
        }
        return decision
    }

    private func decision(
        on call: StatedCall, _ caller: CallerIdentity, _ called: StatedRoute, _ trunk: TrunkPeer,
        _ brands: BrandMode, _ settings: GatewaySettings, _ snapshot: BrandingSnapshot
    ) -> BrandingDecision {
        guard settings.brands, brands != .off else { return .passThrough(.policy) }
        let evidence = CallEvidence(
            number: caller.number, privacy: caller.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: verification(of: caller, on: trunk), isEmergency: called.isEmergency)
        let found = decide(
            evidence, policy: called.route?.policy ?? trunk.policy, gates: snapshot.gates, index: snapshot.index)
        guard case .show = found, let rules = trunk.signatures, rules.mode == .decide,
            rules.nameSource.needsSignature
        else { return found }
        return .passThrough(.nameSource)
    }

    /// The verification of a caller as that of a call without Identity: the client's word, or the trunk's verdict on such calls.
    private func verification(of caller: CallerIdentity, on trunk: TrunkPeer) -> Verification {
        guard trunk.judgesUnsigned, let rules = trunk.signatures else { return caller.verification }
        var memory = TrustMemory()
        let unsigned = SignedCall(caller: nil, called: nil, to: nil)
        let noMessage: [UInt8] = []
        let verdict = trust.signers.load().snapshot.verify(
            noMessage.span, [], of: unsigned, under: rules.policy, at: 0, with: &memory)
        return SignedVerdict(verdict, of: caller, nil, under: rules).verification
    }

    /// Whether the brand's name takes the place of the present one, by `carrier_name` of the trunk.
    private static func replacesName(of call: StatedCall, _ caller: E164Number?, on trunk: TrunkPeer) -> Bool {
        switch trunk.carrierName {
        case .replace: true
        case .keep: false
        case .fill: !CarrierNameText.isName(StatedNumber.unquoted(call.name), of: caller, on: trunk)
        }
    }

    /// The present name of a caller without a brand.
    private static func present(
        _ call: StatedCall, _ number: E164Number?, _ reason: PassThroughReason, _ snapshot: BrandingSnapshot
    ) -> CallerName {
        let name = String(decoding: call.name.prefix(mostNameBytes), as: UTF8.self)
        let text = DisplayName(name, profile: snapshot.index.profile)?.text ?? ""
        return CallerName(text: text, brandID: nil, number: number, reason: reason)
    }
}

extension CallerIdentity {
    /// The caller as a client states it, with the trust that its trunk has.
    fileprivate init(of call: StatedCall, on trunk: TrunkPeer) {
        let number = StatedNumber.trimmed(call.number)
        isWithheld =
            AnonymousNames.isUserOfNobody(number) || AnonymousNames.asksForNoName(StatedNumber.unquoted(call.name))
        guard !isWithheld else { return }
        self.number = StatedNumber.read(call.number, by: trunk.normaliser)
        if trunk.isTrusted { attestation.add(header: call.attestation[...]) }
    }
}
