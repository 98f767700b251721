// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Who calls, as far as the INVITE and the trust in its sender allow to say.
///
/// Privacy is decided before any number is read: for a withheld caller `number` is nil whatever the headers carry.
/// Source: RFC 3325 §9, RFC 3323 §4.
struct CallerIdentity {
    /// The caller in E.164; nil when withheld or not certain.
    var number: E164Number?
    /// The caller asked not to be named.
    var isWithheld = false
    /// What the carrier says of the number; none from an untrusted trunk.
    var verification = Verification.none
    /// P-Asserted-Identity or Remote-Party-ID names the caller, not From.
    var isAsserted = false

    init(of request: SIPMessage, trunk: TrunkPeer) {
        isWithheld = CallerPrivacy.isAsked(in: request)
        guard !isWithheld else { return }
        let claims = CallerClaims(of: request, trunk: trunk)
        isWithheld = claims.asksForNoName
        guard !isWithheld else { return }
        (number, isAsserted) = claims.number(on: trunk)
        if trunk.isTrusted { verification = claims.verification(of: number, in: request, on: trunk) }
    }

    /// The number of a sip, sips or tel URI, read with its phone-context or the trunk's region.
    ///
    /// - Parameter context: a phone-context that stands behind the URI; nil for the URI's own.
    static func number(of uri: SIPURI, trunk: TrunkPeer, context: ArraySlice<UInt8>? = nil) -> E164Number? {
        guard let context = context ?? uri.userParameter("phone-context") ?? uri.parameter("phone-context") else {
            return trunk.normaliser.normalise(uri.unescapedUser)
        }
        return trunk.normaliser.normalise(uri.unescapedUser, context: context)
    }
}

/// Everything in a request that may name its caller; of an untrusted trunk, From alone.
private struct CallerClaims {
    private let asserted: IdentityValues
    private let remoteParty: IdentityValues
    private let from: IdentityValues
    /// The first header of the trunk's order that is there names the caller.
    private let naming: TrunkPeer.IdentityHeader?

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
        // Mostly another header names the caller, and From says nothing of its number.
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

    /// Whether a value of the trusted carrier has a name such as Anonymous beside its number.
    var asksForNoName: Bool { asserted.asksForNoName || remoteParty.asksForNoName }

    /// The worst of what is said of this number, wherever the same number is, and in header fields of the carrier's.
    ///
    /// verstat may be in From while PAI names the caller, and the other way round (TS 24.229 §7.2A.20). A failed check
    /// counts whatever number it is said of.
    func verification(of number: E164Number?, in request: SIPMessage, on trunk: TrunkPeer) -> Verification {
        var claims = AttestationHeaders.claims(in: request, on: trunk)
        func add(_ claim: ClaimedCaller?) {
            guard let claim, !claim.attestation.isEmpty else { return }
            let isFailed = claim.attestation.verification == .failed
            if isFailed || number != nil && claim.number(on: trunk) == number { claims.add(claim.attestation) }
        }
        add(asserted.first)
        add(asserted.second)
        add(remoteParty.first)
        add(remoteParty.second)
        add(from.first)
        return claims.verification
    }
}

/// The caller as one value of a header names it.
private struct ClaimedCaller {
    /// The worst the value says of its number.
    let attestation: AttestationClaims
    /// Its display name says that the caller does not want to be named.
    let asksForNoName: Bool
    private let uri: SIPURI
    /// RFC 3261 §20: what follows a URI without brackets is the header's, the number's context too.
    private let context: ArraySlice<UInt8>?

    /// Nil where the value is not well formed.
    init?(_ message: SIPMessage, _ value: Range<Int>, _ extent: NameAddressExtent) {
        let bytes = message.bytes
        guard let uri = NameAddress(bytes, value, extent)?.uri else { return nil }
        self.uri = uri
        asksForNoName = CallerWords.asksForNoName(CallerWords.name(in: message, extent.displayName))
        func find(_ name: StaticString) -> ArraySlice<UInt8>? {
            HeaderParameters.find(name, in: bytes, extent.parameters).map { bytes[$0] }
        }
        context = extent.hasBrackets ? nil : find("phone-context")
        var claims = AttestationClaims()
        if Self.mentionsVerification(bytes, value) {
            for text in [uri.userParameter("verstat"), uri.parameter("verstat"), find("verstat")] {
                if let text { claims.add(verstat: text) }
            }
        }
        attestation = claims
    }

    /// Whether the value may say how its number was verified: seldom, and reading what is not there is not free.
    static func mentionsVerification(_ bytes: [UInt8], _ value: Range<Int>) -> Bool {
        bytes.mentions("verstat", in: value)
    }

    func number(on trunk: TrunkPeer) -> E164Number? {
        CallerIdentity.number(of: uri, trunk: trunk, context: context)
    }
}

/// The values of one header field that may name the caller, read.
///
/// RFC 3325 §9.1 allows two; a longer list is nobody's word, and reading it is not free.
private struct IdentityValues {
    /// How many there are, at most 3.
    private(set) var count = 0
    /// The first two, nil where they are not well formed.
    private(set) var first: ClaimedCaller?
    private(set) var second: ClaimedCaller?

    init() {}

    init(of name: HeaderName, in message: SIPMessage) {
        guard message.has(name) else { return }
        if name == .from, let field = message.first(.from), let extent = message.from {
            count = 1
            first = ClaimedCaller(message, field.value, extent)
            return
        }
        for field in message.headers where field.name == name {
            for value in HeaderValues(message.bytes, field.value) {
                let extent = NameAddressExtent.scan(message.bytes, value)
                if name == .remotePartyID, !RemoteParty.isSender(of: message, extent.parameters) { continue }
                count += 1
                guard count <= 2 else { return }
                let claim = ClaimedCaller(message, value, extent)
                if count == 1 { first = claim } else { second = claim }
            }
        }
    }

    var asksForNoName: Bool { first?.asksForNoName ?? false || second?.asksForNoName ?? false }

    /// RFC 3325 §9.1: two values are one sip and one tel URI of the same caller; two callers are not certain.
    func number(on trunk: TrunkPeer) -> E164Number? {
        guard count <= 2 else { return nil }
        let one = first?.number(on: trunk)
        let other = second?.number(on: trunk)
        guard let one, let other else { return one ?? other }
        return one == other ? one : nil
    }
}
