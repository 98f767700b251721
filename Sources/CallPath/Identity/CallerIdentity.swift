// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// The identity of the caller, as far as the INVITE shows it and its sender is trusted.
///
/// Privacy is decided first: the `number` of a withheld caller is nil whatever the headers carry.
/// Source: RFC 3325 §9, RFC 3323 §4.
struct CallerIdentity {
    /// The caller in E.164; nil when withheld or not certain.
    var number: E164Number?
    /// True when the caller asks for privacy.
    var isWithheld = false
    /// The carrier's claims about the number; none from an untrusted trunk.
    var attestation = AttestationClaims()
    /// True when P-Asserted-Identity or Remote-Party-ID names the caller, not From.
    var isAsserted = false
    /// The header field that names the caller; nil when withheld, or without one.
    var header: IdentityHeader?

    init(of request: SIPMessage, trunk: TrunkPeer) {
        isWithheld = CallerPrivacy.isAsked(in: request)
        guard !isWithheld else { return }
        let claims = CallerClaims(of: request, trunk: trunk)
        isWithheld = claims.asksForNoName
        guard !isWithheld else { return }
        (number, isAsserted) = claims.number(on: trunk)
        header = claims.naming
        if trunk.isTrusted { attestation = claims.attestation(of: number, in: request, on: trunk) }
    }

    /// The carrier's verification of the number; none from an untrusted trunk.
    var verification: Verification { attestation.verification }

    /// The number of a sip, sips or tel URI, read with its phone-context or the trunk's region.
    ///
    /// - Parameter context: a phone-context behind the URI; nil for the URI's own.
    static func number(of uri: SIPURI, trunk: TrunkPeer, context: ArraySlice<UInt8>? = nil) -> E164Number? {
        guard let context = context ?? uri.userParameter("phone-context") ?? uri.parameter("phone-context") else {
            return trunk.normaliser.normalise(uri.unescapedUser)
        }
        return trunk.normaliser.normalise(uri.unescapedUser, context: context)
    }
}

/// All values in a request that may name its caller; of an untrusted trunk, From alone.
private struct CallerClaims: ~Copyable {
    private let asserted: IdentityValues
    private let remoteParty: IdentityValues
    private let from: IdentityValues
    /// The first present header of the trunk's order names the caller.
    let naming: IdentityHeader?

    init(of request: SIPMessage, trunk: TrunkPeer) {
        asserted = trunk.isTrusted ? IdentityValues(of: .pAssertedIdentity, in: request) : IdentityValues()
        remoteParty = trunk.isTrusted ? IdentityValues(of: .remotePartyID, in: request) : IdentityValues()
        let (asserted, remoteParty) = (asserted.count, remoteParty.count)
        naming = trunk.identityOrder.first {
            switch $0 {
            case .pAssertedIdentity: asserted > 0
            case .remotePartyID: remoteParty > 0
            case .from: request.has(.from)
            }
        }
        // Usually another header names the caller, and From has no verstat.
        let isRead =
            naming == .from
            || request.first(.from).map { ClaimedCaller.mentionsVerification(request.bytes, $0.value) } ?? false
        from = isRead ? IdentityValues(of: .from, in: request) : IdentityValues()
    }

    func number(on trunk: TrunkPeer) -> (number: E164Number?, isAsserted: Bool) {
        switch naming {
        case .pAssertedIdentity: (asserted.number(on: trunk), true)
        case .remotePartyID: (remoteParty.number(on: trunk), true)
        case .from: (from.number(on: trunk), false)
        case nil: (nil, false)
        }
    }

    /// Whether a value of the trusted carrier has a display name such as Anonymous.
    var asksForNoName: Bool { asserted.asksForNoName || remoteParty.asksForNoName }

    /// The worst claim about this number in any header, and in the carrier's own header fields.
    ///
    /// verstat may be in From while PAI names the caller, and the other way round (TS 24.229 §7.2A.20). A failed check
    /// counts for any number.
    func attestation(of number: E164Number?, in request: SIPMessage, on trunk: TrunkPeer) -> AttestationClaims {
        var claims = AttestationHeaders.claims(in: request, on: trunk)
        func add(_ claim: ClaimedCaller?, from source: AttestationSource) {
            guard let claim, !claim.attestation.isEmpty else { return }
            let isFailed = claim.attestation.verification == .failed
            guard isFailed || number != nil && claim.number(on: trunk) == number else { return }
            claims.add(claim.attestation, from: source)
        }
        add(asserted.first, from: .assertedIdentity)
        add(asserted.second, from: .assertedIdentity)
        for claim in asserted.others { add(claim, from: .assertedIdentity) }
        add(remoteParty.first, from: .remoteParty)
        add(remoteParty.second, from: .remoteParty)
        for claim in remoteParty.others { add(claim, from: .remoteParty) }
        if naming == .remotePartyID, remoteParty.isUnscreened { claims.add(.unchecked, from: .remoteParty) }
        add(from.first, from: .from)
        return claims
    }
}

/// The caller in one header value.
private struct ClaimedCaller {
    /// The worst verification in the value.
    let attestation: AttestationClaims
    /// True when its display name asks for privacy.
    let asksForNoName: Bool
    private let uri: SIPURI
    /// RFC 3261 §20: parameters behind a URI without brackets are the header's, the phone-context as well.
    private let context: ArraySlice<UInt8>?

    /// Nil for a malformed value.
    init?(_ message: SIPMessage, _ value: Range<Int>, _ extent: NameAddressExtent) {
        let bytes = message.bytes
        guard let uri = NameAddress(bytes, value, extent)?.uri else { return nil }
        self.uri = uri
        asksForNoName = AnonymousNames.asksForNoName(AnonymousNames.name(in: message, extent.displayName))
        func find(_ name: StaticString) -> ArraySlice<UInt8>? {
            HeaderParameters.find(name, in: bytes, extent.parameters).map { bytes[$0] }
        }
        context = extent.hasBrackets ? nil : find("phone-context")
        var claims = AttestationClaims()
        if Self.mentionsVerification(bytes, value) {
            for text in [uri.userParameter("verstat"), uri.parameter("verstat"), find("verstat")] {
                if let text { claims.add(verstat: PercentEscape.resolved(text)) }
            }
        }
        attestation = claims
    }

    /// Whether the value may contain verstat. This cheap test spares most values the full reading.
    static func mentionsVerification(_ bytes: [UInt8], _ value: Range<Int>) -> Bool {
        bytes.mentions("verstat", in: value)
    }

    func number(on trunk: TrunkPeer) -> E164Number? {
        CallerIdentity.number(of: uri, trunk: trunk, context: context)
    }
}

/// The values of one header that may name the caller.
///
/// RFC 3325 §9.1 allows two. Carriers repeat the caller more often, which is certain as long as all values are one number.
/// A list of more than `most` names nobody and is not read further.
private struct IdentityValues: ~Copyable {
    /// Most values that are read.
    private static let most = RequestLimits.identityValues
    /// Number of values, at most one more than `most`.
    private(set) var count = 0
    /// The first two, nil where malformed.
    private(set) var first: ClaimedCaller?
    private(set) var second: ClaimedCaller?
    /// True if one of them is a Remote-Party-ID that the network did not verify: `screen=no`.
    private(set) var isUnscreened = false
    /// The further ones that are well formed.
    private(set) var others: [ClaimedCaller] = []

    init() {}

    init(of name: HeaderName, in message: SIPMessage) {
        if name == .from, let field = message.first(.from), let extent = message.from {
            count = 1
            first = ClaimedCaller(message, field.value, extent)
            return
        }
        for field in message.fields(name) {
            for value in HeaderValues(message.bytes, field.value) {
                let extent = NameAddressExtent.scan(message.bytes, value)
                if name == .remotePartyID {
                    guard RemoteParty.isSender(of: message, extent.parameters) else { continue }
                    if RemoteParty.isUnscreened(message, extent.parameters) { isUnscreened = true }
                }
                count += 1
                guard count <= Self.most else { return }
                let claim = ClaimedCaller(message, value, extent)
                switch count {
                case 1: first = claim
                case 2: second = claim
                default: if let claim { others.append(claim) }
                }
            }
        }
    }

    var asksForNoName: Bool {
        first?.asksForNoName ?? false || second?.asksForNoName ?? false || others.contains { $0.asksForNoName }
    }

    /// RFC 3325 §9.1: two values are one sip and one tel URI of the same caller; two callers are not certain.
    func number(on trunk: TrunkPeer) -> E164Number? {
        guard count <= Self.most else { return nil }
        let one = first?.number(on: trunk)
        let other = second?.number(on: trunk)
        if let one, let other, one != other { return nil }
        guard !others.isEmpty else { return one ?? other }
        var certain = one ?? other
        for number in others.lazy.compactMap({ $0.number(on: trunk) }) {
            if let certain, certain != number { return nil }
            certain = number
        }
        return certain
    }
}
