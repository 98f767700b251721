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

    init(of invite: SIPMessage, trunk: TrunkPeer) {
        isWithheld = CallerPrivacy.isAsked(in: invite)
        guard !isWithheld else { return }
        let from = IdentityValues(of: .from, in: invite)
        let asserted = trunk.isTrusted ? IdentityValues(of: .pAssertedIdentity, in: invite) : IdentityValues()
        number = Self.number(in: invite, trunk: trunk, asserted: asserted, from: from)
        // verstat may stand in From while PAI names the caller, and the other way round (TS 24.229 §7.2A.20).
        if trunk.isTrusted { verification = Self.verification(asserted, from) }
    }

    /// The caller's number alone, by the same rules: for requests inside a dialog, whose brand is decided already.
    static func number(in request: SIPMessage, trunk: TrunkPeer) -> E164Number? {
        guard !CallerPrivacy.isAsked(in: request) else { return nil }
        let asserted = trunk.isTrusted ? IdentityValues(of: .pAssertedIdentity, in: request) : IdentityValues()
        return number(
            in: request, trunk: trunk, asserted: asserted, from: IdentityValues(of: .from, in: request))
    }

    /// The first header of the trunk's order that is there names the caller; of an untrusted trunk, From alone counts.
    private static func number(
        in request: SIPMessage, trunk: TrunkPeer, asserted: IdentityValues, from: IdentityValues
    ) -> E164Number? {
        for header in trunk.identityOrder {
            switch header {
            case .pAssertedIdentity:
                if trunk.isTrusted, asserted.count > 0 { return asserted.number(on: trunk) }
            case .remotePartyID:
                guard trunk.isTrusted, request.has(.remotePartyID) else { continue }
                let values = IdentityValues(of: .remotePartyID, in: request)
                if values.count > 0 { return values.number(on: trunk) }
            case .from:
                if from.count > 0 { return from.number(on: trunk) }
            }
        }
        return nil
    }

    /// The number of a sip, sips or tel URI, read with its phone-context or the trunk's region.
    static func number(of uri: SIPURI, trunk: TrunkPeer) -> E164Number? {
        guard let context = uri.userParameter("phone-context") ?? uri.parameter("phone-context") else {
            return trunk.normaliser.normalise(uri.unescapedUser)
        }
        return trunk.normaliser.normalise(uri.unescapedUser, context: context)
    }

    /// The worst word on the number found in PAI and From: in the user part, in the URI, in a tel URI.
    private static func verification(_ asserted: IdentityValues, _ from: IdentityValues) -> Verification {
        worse(worse(verification(of: asserted.first), verification(of: asserted.second)), verification(of: from.first))
    }

    private static func verification(of uri: SIPURI?) -> Verification {
        guard let text = uri?.userParameter("verstat") ?? uri?.parameter("verstat") else { return .none }
        return Verification(verstat: text)
    }

    /// Failed where either is, otherwise the first that says anything.
    private static func worse(_ one: Verification, _ other: Verification) -> Verification {
        one != .failed && other == .failed || one == .none ? other : one
    }
}

/// The values of one header field that may name the caller, read.
///
/// RFC 3325 §9.1 allows two; a longer list is nobody's word, and reading it is not free.
private struct IdentityValues {
    /// How many there are, at most 3.
    private(set) var count = 0
    /// The URIs of the first two, nil where they are not well formed.
    private(set) var first: SIPURI?
    private(set) var second: SIPURI?

    init() {}

    init(of name: HeaderName, in message: SIPMessage) {
        guard message.has(name) else { return }
        if name == .from, let field = message.first(.from), let extent = message.from {
            count = 1
            first = NameAddress(message.bytes, field.value, extent)?.uri
            return
        }
        for field in message.headers where field.name == name {
            for value in HeaderValues(message.bytes, field.value) {
                count += 1
                switch count {
                case 1: first = NameAddress(message.bytes, value)?.uri
                case 2: second = NameAddress(message.bytes, value)?.uri
                default: return
                }
            }
        }
    }

    /// RFC 3325 §9.1: two values are one sip and one tel URI of the same caller; two callers are not certain.
    func number(on trunk: TrunkPeer) -> E164Number? {
        guard count <= 2 else { return nil }
        let one = first.flatMap { CallerIdentity.number(of: $0, trunk: trunk) }
        let other = second.flatMap { CallerIdentity.number(of: $0, trunk: trunk) }
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
            case .from: isAnonymous(invite, field.value)
            case .remotePartyID: isRestricted(invite, field.value)
            default: false
            }
        }
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
    private static func isAnonymous(_ message: SIPMessage, _ value: Range<Int>) -> Bool {
        let uri = NameAddressExtent.scan(message.bytes, value).uri
        let end = uri.upperBound
        func next(from start: Int, _ isEnd: (UInt8) -> Bool) -> Int {
            var position = start
            while position < end, !isEnd(message.bytes[position]) { position += 1 }
            return position
        }
        let colon = next(from: uri.lowerBound) { $0 == UInt8(ascii: ":") }
        let start = colon < end ? colon + 1 : uri.lowerBound
        let userEnd = next(from: start) { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: ";") }
        if isWordForNobody(message[start..<userEnd]) { return true }
        let host = min(next(from: start) { $0 == UInt8(ascii: "@") } + 1, end)
        let hostEnd = next(from: host) {
            $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "?")
        }
        let name = message[host..<hostEnd]
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

    /// Remote-Party-ID with privacy=full, name, uri or off.
    private static func isRestricted(_ invite: SIPMessage, _ value: Range<Int>) -> Bool {
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
