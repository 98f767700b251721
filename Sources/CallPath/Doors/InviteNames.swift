// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Trust

/// The name of an INVITE's caller for the client of a door.
struct InviteName {
    /// The caller's number with the received host, or as a tel URI; without parameters.
    let caller: [UInt8]
    /// One line of UTF-8 without control characters.
    let text: String
}

/// The result of a decision on an INVITE of a door.
enum InviteNaming {
    case named(InviteName)
    case unnamed(PassThroughReason)
}

// The name of a whole INVITE: with its header fields, its called number and its signatures, as a call on the trunk.

extension DoorNames {
    /// The name that the PBX would show if the call came by the trunk.
    ///
    /// Any thread; no I/O. Signers that are missing are requested as for calls.
    ///
    /// - Parameters:
    ///   - seconds: Unix time of the arrival, for the freshness of signatures.
    ///   - memory: that of the caller's thread.
    func naming(
        _ invite: SIPMessage, _ settings: GatewaySettings, at seconds: Int64, with memory: inout TrustMemory
    ) -> InviteNaming {
        guard let trunk = settings.topology.trunks.first(where: { $0.name == trunk }) else {
            return .unnamed(.untrusted)
        }
        let called = InviteRoute(CalledRoute(of: invite, on: trunk, settings.topology.routes), trunk, settings)
        let snapshot = (called.branding ?? branding).load()
        let identity = CallerIdentity(of: invite, trunk: trunk)
        let facts = CallFacts(of: invite, isTrusted: trunk.isTrusted, trunk.emergencyNumbers)
        let isSpiral = settings.isSpiral(invite)
        let signed = signedVerdict(
            on: invite, facts, identity, trunk, isSpiral: isSpiral, settings.secret, at: seconds, with: &memory)
        guard called.brands != .off else { return .unnamed(.policy) }
        let evidence = CallEvidence(
            number: identity.number, privacy: identity.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: signed?.verification ?? identity.verification, isInitialInvite: !invite.isInDialog,
            isEmergency: facts.isEmergency, isSpiral: isSpiral, hasReplaces: invite.has(.replaces))
        let found = decide(evidence, policy: called.policy, gates: snapshot.gates, index: snapshot.index)
        if let signed, signed.refusal != nil {
            return .unnamed(identity.isWithheld ? .privacy : .failedVerification)
        }
        let replacesName = Decoration.replacesCallerName(in: invite, of: identity.number, from: trunk)
        var named = NameDecision(found)
        if let signed, signed.evidence.counts, let rules = trunk.signatures {
            named = signed.named(
                found, in: snapshot, on: trunk, replacesName: invite.has(.identity) && replacesName, under: rules,
                logo: nil)
        }
        let naming = Self.naming(named, in: snapshot.index, replacesName: replacesName) {
            Self.address(of: identity, in: invite, on: trunk)
        }
        guard case .named(let name) = naming else { return naming }
        if called.brands == .shadow { return .unnamed(.shadow) }
        if let given, case .show(let entry) = named.decision, let number = identity.number {
            given.add(
                GivenNames.Name(
                    text: name.text, brandID: snapshot.index.text(.brandID, entry), customer: called.customer),
                of: number)
        }
        return naming
    }

    /// The name of a decision; a caller whose name stays has none.
    private static func naming(
        _ named: NameDecision, in index: BrandIndex, replacesName: Bool, _ caller: () -> [UInt8]?
    ) -> InviteNaming {
        let text: String
        switch named.decision {
        case .show(let entry): text = named.card?.name ?? index.text(.name, entry)
        case .passThrough(let reason):
            guard reason == .signedName, let card = named.card else { return .unnamed(reason) }
            text = card.name
        }
        guard replacesName, !text.isEmpty, let caller = caller() else { return .unnamed(.policy) }
        return .named(InviteName(caller: caller, text: text))
    }

    /// The verdict on the signed header fields where it counts; nil in shadow and where a call would have none.
    private func signedVerdict(
        on invite: SIPMessage, _ facts: CallFacts, _ identity: CallerIdentity, _ trunk: TrunkPeer, isSpiral: Bool,
        _ secret: Secret, at seconds: Int64, with memory: inout TrustMemory
    ) -> SignedVerdict? {
        guard invite.has(.identity) || trunk.judgesUnsigned, let rules = trunk.signatures, rules.mode == .decide,
            !facts.isProtected, !isSpiral
        else { return nil }
        let signed =
            invite.has(.identity)
            ? SignedCall(of: invite, Self.identifier(of: invite, secret), from: trunk, rules)
            : SignedCall(unsigned: invite)
        let bytes = invite.bytes
        let verdict = trust.signers.load().snapshot.verify(
            bytes.span, invite.fields(.identity).map(\.value), of: signed, under: rules.policy, at: seconds,
            with: &memory)
        for request in verdict.requests {
            trust.requests.add(request, trunk: trunk.mark, rules: rules.policy.fetchRules)
        }
        return SignedVerdict(verdict, of: identity, identity.number.flatMap(CanonicalNumber.init), under: rules)
    }

    /// The call as signatures are remembered by it: the same for all its INVITEs.
    private static func identifier(of invite: SIPMessage, _ secret: Secret) -> CallIdentifier {
        var hash = secret.hash(for: .callName)
        if let callID = invite.first(.callID) { hash.combine(callID.value, of: invite) }
        if let tag = invite.fromTag { hash.combine(tag, of: invite) }
        let (high, low) = hash.finishWide()
        return CallIdentifier(high: high, low: low)
    }

    /// Number and host of the header field that names the caller, else the number as a tel URI; nil without a number.
    private static func address(of identity: CallerIdentity, in invite: SIPMessage, on trunk: TrunkPeer) -> [UInt8]? {
        guard let number = identity.number else { return nil }
        let naming = identity.header ?? .from
        for field in invite.fields(naming.name) {
            for value in HeaderValues(invite.bytes, field.value) {
                guard let address = NameAddress(invite.bytes, value), address.extent.hasBrackets,
                    CallerIdentity.number(of: address.uri, trunk: trunk) == number,
                    let plain = CallerURI.plain(address.uri)
                else { continue }
                return plain
            }
        }
        return CallerURI.telephone(number)
    }
}

/// The route of an INVITE as far as names need it.
private struct InviteRoute {
    /// The brands of its customer; nil for those of calls without a customer.
    let branding: CurrentBranding?
    /// Its mark; 0 for none.
    let customer: UInt32
    let policy: BrandingPolicy
    /// Off where a call has no brand whoever calls, or is rejected.
    let brands: BrandMode

    init(_ called: borrowing CalledRoute, _ trunk: TrunkPeer, _ settings: GatewaySettings) {
        (branding, customer) = (called.customer?.branding, called.customer?.mark ?? 0)
        policy = called.policy(on: trunk)
        let isRejected = called.route == nil && settings.topology.routes.unmatched == .reject
        brands = settings.brands && !isRejected ? called.brands(on: trunk) : .off
    }
}
