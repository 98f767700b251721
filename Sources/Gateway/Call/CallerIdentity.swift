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
        for header in trunk.identityOrder {
            guard header == .from || trunk.isTrusted else { continue }
            let values = Self.values(of: header, in: invite)
            guard !values.isEmpty else { continue }
            read(values, in: invite, trunk: trunk)
            break
        }
        // verstat may stand in From while PAI names the caller, and the other way round (TS 24.229 §7.2A.20).
        if trunk.isTrusted { verification = Self.verification(in: invite) }
    }

    private mutating func read(_ values: [Range<Int>], in invite: SIPMessage, trunk: TrunkPeer) {
        // RFC 3325 §9.1 allows two values; a longer list is nobody's word, and parsing it is not free.
        guard values.count <= 2 else { return }
        var found: Set<E164Number> = []
        for value in values {
            guard let address = NameAddress(invite.bytes, value) else { continue }
            if let number = Self.number(of: address.uri, trunk: trunk) { found.insert(number) }
        }
        // RFC 3325 §9.1: two values are one sip and one tel URI of the same caller; two callers are not certain.
        number = found.count == 1 ? found.first : nil
    }

    /// The header fields' values that may carry the caller.
    private static func values(of header: TrunkPeer.IdentityHeader, in invite: SIPMessage) -> [Range<Int>] {
        let name: HeaderName =
            switch header {
            case .pAssertedIdentity: .pAssertedIdentity
            case .remotePartyID: .remotePartyID
            case .from: .from
            }
        return invite.headers.filter { $0.name == name }.flatMap { field in
            name == .from ? [field.value] : Array(HeaderValues(invite.bytes, field.value))
        }
    }

    /// The number of a sip, sips or tel URI, read with its phone-context or the trunk's region.
    static func number(of uri: SIPURI, trunk: TrunkPeer) -> E164Number? {
        guard let context = uri.userParameter("phone-context") ?? uri.parameter("phone-context") else {
            return trunk.normaliser.normalise(uri.unescapedUser)
        }
        return trunk.normaliser.normalise(uri.unescapedUser, context: context)
    }

    /// The worst word on the number found in From and PAI: in the user part, in the URI, in a tel URI.
    private static func verification(in invite: SIPMessage) -> Verification {
        var result = Verification.none
        let all = values(of: .pAssertedIdentity, in: invite).prefix(2) + values(of: .from, in: invite)
        for value in all {
            guard let uri = NameAddress(invite.bytes, value)?.uri,
                let text = uri.userParameter("verstat") ?? uri.parameter("verstat")
            else { continue }
            let said = Verification(verstat: String(decoding: text, as: UTF8.self))
            if said == .failed { return .failed }
            if result == .none { result = said }
        }
        return result
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
        value.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") || $0 <= 32 }.contains { token in
            ["id", "user", "header"].contains { (word: StaticString) in token.equalsIgnoringCase(word) }
        }
    }

    /// `"Anonymous" <sip:anonymous@anonymous.invalid>` and its relatives (RFC 3323 §4.1.1.3, TS 24.229 for unavailable).
    private static func isAnonymous(_ invite: SIPMessage, _ value: Range<Int>) -> Bool {
        let extent = NameAddressExtent.scan(invite.bytes, value)
        let uri = invite[extent.uri]
        let afterScheme = uri.firstIndex(of: UInt8(ascii: ":")).map { uri[($0 + 1)...] } ?? uri
        let user = afterScheme.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ";") }
        let host = afterScheme.drop { $0 != UInt8(ascii: "@") }.dropFirst()
        let hostName = host.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "?") }
        let words: [StaticString] = ["anonymous", "unavailable", "restricted", "withheld", "private"]
        return words.contains { user.equalsIgnoringCase($0) } || hostName.equalsIgnoringCase("anonymous.invalid")
            || hostName.equalsIgnoringCase("unknown.invalid")
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
