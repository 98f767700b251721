// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Trust

// The verification of the signed header fields of an INVITE (RFC 8224 §6.2), against signers in memory alone.

/// The memory of one worker for the verification of signed calls.
final class WorkerTrust {
    var memory = TrustMemory()
    /// The second in which the offset of the clock was reported last.
    var reportedAt: Int64 = 0
    /// True while calls are about to be shed: signatures are left out first.
    var isPressed = false
}

extension ProxyCore {
    /// Verifies the Identity header fields of a new call; nil without such a field, and where nothing is verified.
    ///
    /// A call to an emergency service, its callback by a trusted trunk, and a call that passed here before have no verdict.
    /// Anybody can write `Priority: emergency`, which excludes a brand and no verdict. No verdict changes what is sent in shadow.
    func verifySignatures(
        _ arrival: Arrival, _ call: CallIdentifier, _ facts: CallFacts, _ identity: CallerIdentity, on trunk: TrunkPeer,
        isSpiral: Bool, _ worker: WorkerTrust
    ) -> SignedVerdict? {
        let invite = arrival.message
        // First without a look at the rules: most calls have no such field.
        guard invite.has(.identity) || trunk.judgesUnsigned, let rules = trunk.signatures, !facts.isProtected, !isSpiral
        else { return nil }
        let verdict = verdict(on: arrival, call, trunk, rules, worker)
        for request in verdict.requests {
            shared.trust.requests.add(request, trunk: trunk.mark, rules: rules.policy.fetchRules)
        }
        return SignedVerdict(verdict, of: identity, identity.number.flatMap(CanonicalNumber.init), under: rules)
    }

    private func verdict(
        on arrival: Arrival, _ call: CallIdentifier, _ trunk: TrunkPeer, _ rules: TrunkSignatures, _ worker: WorkerTrust
    ) -> TrustVerdict {
        let invite = arrival.message
        guard !worker.isPressed else { return TrustVerdict(.shed) }
        let now = arrival.now.wallMicroseconds / 1_000_000
        let signed =
            invite.has(.identity)
            ? SignedCall(of: invite, call, from: trunk, rules) : SignedCall(unsigned: invite)
        let signers = shared.trust.signers.load()
        let bytes = invite.bytes
        let verdict = signers.snapshot.verify(
            bytes.span, invite.fields(.identity).map(\.value), of: signed, under: rules.policy, at: now,
            with: &worker.memory)
        if worker.reportedAt != now {
            let offset = worker.memory.clockOffset(at: now)
            shared.trust.counters.setClockOffset(offset)
            if offset != nil { worker.reportedAt = now }
        }
        return verdict
    }
}

extension TrunkSignatures {
    /// Whether a call without Identity has a verdict too: the regime has a cause for it, the trunk's word never counts, or no
    /// brand goes without a signed name.
    ///
    /// In shadow too: the record has the calls that would change.
    var judgesUnsigned: Bool {
        if source == .ownOnly || nameSource.needsSignature { return true }
        guard let regime = policy.regimes.first else { return false }
        return regime.required || regime.bypass == .pass
    }
}

extension SignedCall {
    /// Collects what tokens are compared with.
    init(of invite: SIPMessage, _ call: CallIdentifier, from trunk: TrunkPeer, _ rules: TrunkSignatures) {
        let from = Self.number(in: invite, .from, on: trunk)
        // Anybody can write the header field on an untrusted trunk.
        let asserted = trunk.isTrusted ? Self.number(in: invite, .pAssertedIdentity, on: trunk) : nil
        let to = Self.number(in: invite, .to, on: trunk)
        let caller =
            switch rules.caller {
            case .asserted, .either: asserted ?? from
            case .from: from ?? asserted
            }
        self.init(caller: caller, called: Self.called(invite, to, on: trunk, rules.called), to: to)
        if rules.caller == .either { otherCaller = from }
        if rules.policy.regimes.contains(where: \.checksDate) { date = DateField.seconds(in: invite) }
        callID = call.high
        hasBypass = trunk.judgesUnsigned && Self.hasBypass(invite)
    }

    /// A call without Identity: no number is compared with anything.
    init(unsigned invite: SIPMessage) {
        self.init(caller: nil, called: nil, to: nil)
        hasBypass = Self.hasBypass(invite)
    }

    private static func hasBypass(_ invite: SIPMessage) -> Bool { named("p-identity-bypass", in: invite) != nil }

    private static func called(
        _ invite: SIPMessage, _ to: CanonicalNumber?, on trunk: TrunkPeer, _ place: TrunkSignatures.CalledPlace
    ) -> CanonicalNumber? {
        switch place {
        case .to: return to
        case .calledPartyID:
            if let field = named("p-called-party-id", in: invite) { return number(in: invite, field.value, on: trunk) }
        case .requestURI: break
        }
        return SIPURI(invite.bytes, invite.requestURI).flatMap { CanonicalNumber($0, on: trunk) }
    }

    /// The first number in the header fields of a name.
    private static func number(in invite: SIPMessage, _ name: HeaderName, on trunk: TrunkPeer) -> CanonicalNumber? {
        for field in invite.fields(name) {
            if let number = number(in: invite, field.value, on: trunk) { return number }
        }
        return nil
    }

    private static func number(in invite: SIPMessage, _ list: Range<Int>, on trunk: TrunkPeer) -> CanonicalNumber? {
        for value in HeaderValues(invite.bytes, list) {
            let number = NameAddress(invite.bytes, value).flatMap { CanonicalNumber($0.uri, on: trunk) }
            if let number { return number }
        }
        return nil
    }

    /// The first header field of a name that has no place of its own in the index, in lower case.
    private static func named(_ name: StaticString, in invite: SIPMessage) -> SIPMessage.HeaderField? {
        invite.headers.first { $0.name == .other && invite[$0.start..<$0.nameEnd].equalsIgnoringCase(name) }
    }
}

extension CanonicalNumber {
    /// The number in E.164 without its plus sign.
    init?(_ number: E164Number) { self.init(digits: number.digits) }

    /// The number of a URI: in E.164 by the trunk's region, or as dialled for a short code (RFC 8224 §8.3).
    ///
    /// Parameters of the number are no part of it (RFC 4904).
    init?(_ uri: SIPURI, on trunk: TrunkPeer) {
        if let number = CallerIdentity.number(of: uri, trunk: trunk) {
            self.init(number)
        } else {
            self.init(dialled: uri.unescapedUser)
        }
    }

    /// A number as dialled, without plus sign and separators.
    init?(dialled text: some Sequence<UInt8>) {
        let dialled = text.filter { !Self.separators.contains($0) }
        let digits = dialled.first == UInt8(ascii: "+") ? Array(dialled.dropFirst()) : dialled
        self.init(digits.span)
    }

    /// The visual separators of RFC 3966 §3, which RFC 8224 §8.3 removes.
    private static let separators = Array("-.()".utf8)
}
