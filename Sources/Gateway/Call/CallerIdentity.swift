// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Who calls, as far as the INVITE and the trust in its sender allow to say.
///
/// Privacy is decided before any number is read: for a withheld caller `number` is nil whatever the headers carry.
/// Source: RFC 3325 §9, RFC 3323 §4, DESIGN §4.
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
        (number, isAsserted) = claims.number(on: trunk)
        if trunk.isTrusted { verification = claims.verification(of: number, on: trunk) }
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

    /// Failed where any of them says so; else the first word on this number, wherever the same number stands.
    ///
    /// verstat may be in From while PAI names the caller, and the other way round (TS 24.229 §7.2A.20).
    func verification(of number: E164Number?, on trunk: TrunkPeer) -> Verification {
        var word = Verification.none
        func weigh(_ claim: ClaimedCaller?) {
            guard let claim, claim.verification != .none, word != .failed else { return }
            if claim.verification == .failed {
                word = .failed
            } else if word == .none, let number, claim.number(on: trunk) == number {
                word = claim.verification
            }
        }
        weigh(asserted.first)
        weigh(asserted.second)
        weigh(remoteParty.first)
        weigh(remoteParty.second)
        weigh(from.first)
        return word
    }
}

/// The caller as one value of a header names it.
private struct ClaimedCaller {
    /// What the value says of its number; a failure where it says two things.
    let verification: Verification
    private let uri: SIPURI
    /// RFC 3261 §20: what follows a URI without brackets is the header's, the number's context too.
    private let context: ArraySlice<UInt8>?

    /// Nil where the value is not well formed.
    init?(_ bytes: [UInt8], _ value: Range<Int>, _ extent: NameAddressExtent) {
        guard let uri = NameAddress(bytes, value, extent)?.uri else { return nil }
        self.uri = uri
        func find(_ name: StaticString) -> ArraySlice<UInt8>? {
            HeaderParameters.find(name, in: bytes, extent.parameters).map { bytes[$0] }
        }
        context = extent.hasBrackets ? nil : find("phone-context")
        guard Self.mentionsVerification(bytes, value) else {
            verification = .none
            return
        }
        var word = Verification.none
        func weigh(_ text: ArraySlice<UInt8>?) {
            let next = text.map { Verification(verstat: $0) } ?? .none
            if word == .none || next == .failed { word = next }
        }
        weigh(uri.userParameter("verstat"))
        weigh(uri.parameter("verstat"))
        weigh(find("verstat"))
        verification = word
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
            first = ClaimedCaller(message.bytes, field.value, extent)
            return
        }
        for field in message.headers where field.name == name {
            for value in HeaderValues(message.bytes, field.value) {
                count += 1
                guard count <= 2 else { return }
                let claim = ClaimedCaller(message.bytes, value, NameAddressExtent.scan(message.bytes, value))
                if count == 1 { first = claim } else { second = claim }
            }
        }
    }

    /// RFC 3325 §9.1: two values are one sip and one tel URI of the same caller; two callers are not certain.
    func number(on trunk: TrunkPeer) -> E164Number? {
        guard count <= 2 else { return nil }
        let one = first?.number(on: trunk)
        let other = second?.number(on: trunk)
        guard let one, let other else { return one ?? other }
        return one == other ? one : nil
    }
}

/// Whether a caller asks not to be named (RFC 3323, RFC 3325 §9.3, draft-ietf-sip-privacy for Remote-Party-ID).
enum CallerPrivacy {
    static func isAsked(in invite: SIPMessage) -> Bool {
        invite.headers.contains { field in
            switch field.name {
            case .privacy: asksForPrivacy(invite[field.value])
            case .from: isAnonymous(invite, field)
            case .remotePartyID: isRestricted(invite, field.value)
            default: false
            }
        }
    }

    /// Whether the Privacy header field asks for it, whatever From says (RFC 3325 §9.3).
    static func isAskedByHeader(in message: SIPMessage) -> Bool {
        message.has(.privacy)
            && message.headers.contains { $0.name == .privacy && asksForPrivacy(message[$0.value]) }
    }

    /// Privacy: a semicolon list, tokens in any case; `none` and `critical` alone ask for nothing (RFC 3323 §4.2).
    private static func asksForPrivacy(_ value: ArraySlice<UInt8>) -> Bool {
        var start = value.startIndex
        while start < value.endIndex {
            var end = start
            while end < value.endIndex, !isSeparator(value[end]) { end += 1 }
            let token = value[start..<end]
            if token.equalsIgnoringCase("id") || token.equalsIgnoringCase("user")
                || token.equalsIgnoringCase("header")
            {
                return true
            }
            start = end + 1
        }
        return false
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte <= 32
    }

    /// `"Anonymous" <sip:anonymous@anonymous.invalid>` and its relatives (RFC 3323 §4.1.1.3, TS 24.229 for unavailable).
    private static func isAnonymous(_ message: SIPMessage, _ field: SIPMessage.HeaderField) -> Bool {
        let known = message.first(.from)?.start == field.start ? message.from : nil
        let uri = (known ?? NameAddressExtent.scan(message.bytes, field.value)).uri
        let colon = message.bytes.firstIndex(of: UInt8(ascii: ":"), in: uri)
        let start = colon.map { $0 + 1 } ?? uri.lowerBound
        let at = message.bytes.firstIndex(of: UInt8(ascii: "@"), in: start..<uri.upperBound) ?? uri.upperBound
        let userEnd = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: start..<at) ?? at
        if isWordForNobody(message[start..<userEnd]) { return true }
        let host = min(at + 1, uri.upperBound)..<uri.upperBound
        let hostEnd = message.bytes[host].firstIndex {
            $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "?")
        }
        let name = message[host.lowerBound..<(hostEnd ?? host.upperBound)]
        return name.equalsIgnoringCase("anonymous.invalid") || name.equalsIgnoringCase("unknown.invalid")
    }

    private static func isWordForNobody(_ user: ArraySlice<UInt8>) -> Bool {
        switch user.count {
        case 7: user.equalsIgnoringCase("private")
        case 8: user.equalsIgnoringCase("withheld")
        case 9: user.equalsIgnoringCase("anonymous")
        case 10: user.equalsIgnoringCase("restricted")
        case 11: user.equalsIgnoringCase("unavailable")
        default: false
        }
    }

    /// Remote-Party-ID with privacy=full, name, uri or any other word but off and none.
    static func isRestricted(_ invite: SIPMessage, _ value: Range<Int>) -> Bool {
        for part in HeaderValues(invite.bytes, value) {
            let extent = NameAddressExtent.scan(invite.bytes, part)
            guard let privacy = HeaderParameters.find("privacy", in: invite.bytes, extent.parameters) else { continue }
            let word = invite[privacy]
            if !word.equalsIgnoringCase("off") && !word.equalsIgnoringCase("\"off\"")
                && !word.equalsIgnoringCase("none")
            {
                return true
            }
        }
        return false
    }
}
