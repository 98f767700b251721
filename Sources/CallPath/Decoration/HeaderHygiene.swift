// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore

/// Removal of header fields at the trust boundary: claims of an untrusted trunk, and withheld identities towards a trunk
/// (RFC 3325 §5, §7).
///
/// An RFC 3261 proxy removes nothing; each removal follows the trunk's configuration.
enum HeaderHygiene {
    /// Removes untrusted claims, and rich call data when the gateway writes its own.
    ///
    /// How a phone rings concerns requests alone. A response keeps what informs the caller, such as the Call-Info of a 608
    /// (RFC 8688 §3.2) and the ringing tone of a 180. Only the callee's picture and card need trust there too.
    ///
    /// - Parameters:
    ///   - ownHeaders: names of the header fields that only the gateway writes.
    ///   - isBranded: true when the message gets the gateway's own Call-Info and names.
    ///   - hasCardLink: true when the message gets a page about the caller, so that another one goes.
    /// - Returns: true when From changes, which responses must not show (RFC 3261 §8.2.6.2).
    @discardableResult
    static func clean(
        _ message: SIPMessage, from trunk: TrunkPeer, ownHeaders: [ArraySlice<UInt8>], isBranded: Bool,
        hasCardLink: Bool = false, into splices: inout Splices
    ) -> Bool {
        // Most messages of a trusted trunk have none of these fields.
        guard
            !trunk.isTrusted || !ownHeaders.isEmpty || message.has(.callInfo) || message.has(.pPreferredIdentity)
                || message.has(.answering) || message.has(.proxyVouched)
        else { return false }
        var changesFrom = false
        let keepsRinging = trunk.keepsForeignCallInfo || message.status != nil
        for field in message.headers {
            switch field.name {
            // A proxy removes it in any case (RFC 3325 §5); FreeSWITCH and Yealink would prefer its name to all others.
            case .pPreferredIdentity where isBranded || !trunk.isTrusted:
                splices.remove(field.start..<field.end)
            case .pAssertedIdentity where !trunk.isTrusted, .remotePartyID where !trunk.isTrusted,
                .attestation where !trunk.isTrusted, .answering where !keepsRinging:
                splices.remove(field.start..<field.end)
            case .proxyVouched: splices.remove(field.start..<field.end)
            case .callInfo:
                CallInfoValues.strip(message, field, withPages: hasCardLink, into: &splices) { isRichCallData in
                    isRichCallData ? isBranded || !trunk.isTrusted : !keepsRinging
                }
            // From of a response is what the other side wrote.
            case .from where !trunk.isTrusted && message.status == nil:
                if removeVerstat(message, field.value, into: &splices) { changesFrom = true }
            case .other where !trunk.isTrusted && AttestationHeaders.isNamed(field, in: message, on: trunk):
                splices.remove(field.start..<field.end)
            case .other where ownHeaders.contains { message[field.start..<field.nameEnd].equalsIgnoringCase($0) }:
                splices.remove(field.start..<field.end)
            default: break
            }
        }
        return changesFrom
    }

    /// Removes the identity of a PBX's caller that asks for privacy, if the trunk does not take withheld identities.
    ///
    /// RFC 3325 §7 and §9.3: a request with `Privacy: id` reaches an untrusted element without P-Asserted-Identity. The same
    /// holds for the callee in a response (RFC 5876 §4.2). From is the caller's own statement and stays.
    static func withhold(_ message: SIPMessage, from trunk: TrunkPeer, into splices: inout Splices) {
        guard !trunk.takesWithheldIdentity,
            message.has(.privacy) || message.has(.remotePartyID) || message.has(.proxyRequire)
        else { return }
        let isWithheld = CallerPrivacy.isAskedByHeader(in: message)
        for field in message.headers {
            switch field.name {
            case .pAssertedIdentity where isWithheld, .pPreferredIdentity where isWithheld:
                splices.remove(field.start..<field.end)
            case .remotePartyID:
                let isSecret = RemoteParty.contains(message, field) {
                    isWithheld && RemoteParty.isSide(of: message, $0) || RemoteParty.isRestricted(message, $0)
                }
                if isSecret { splices.remove(field.start..<field.end) }
            default: break
            }
        }
    }

    /// Removes what a trusted trunk states about its caller's number, where the gateway's own verdict contradicts it.
    ///
    /// - Returns: true when From changes.
    static func removeVerstat(of message: SIPMessage, into splices: inout Splices) -> Bool {
        var changesFrom = false
        for field in message.headers {
            switch field.name {
            case .pAssertedIdentity, .remotePartyID, .from:
                for value in HeaderValues(message.bytes, field.value)
                where removeVerstat(message, value, into: &splices) && field.name == .from { changesFrom = true }
            case .attestation: splices.remove(field.start..<field.end)
            default: break
            }
        }
        return changesFrom
    }

    /// Removes `;verstat=…` (TS 24.229 §7.2A.20) from the user part, from the URI, and behind a URI without brackets.
    ///
    /// - Returns: whether there was one.
    private static func removeVerstat(_ message: SIPMessage, _ value: Range<Int>, into splices: inout Splices) -> Bool {
        let extent = NameAddressExtent.scan(message.bytes, value)
        let isInURI = removeVerstat(message, extent.uri, hasQuotes: false, into: &splices)
        return removeVerstat(message, extent.parameters, hasQuotes: true, into: &splices) || isInURI
    }

    private static func removeVerstat(
        _ message: SIPMessage, _ range: Range<Int>, hasQuotes: Bool, into splices: inout Splices
    ) -> Bool {
        var isFound = false
        var position = range.lowerBound
        while let semicolon = message[position..<range.upperBound].firstIndex(of: UInt8(ascii: ";")) {
            position = parameterEnd(message, (semicolon + 1)..<range.upperBound, hasQuotes: hasQuotes)
            let nameEnd = message[(semicolon + 1)..<position].firstIndex(of: UInt8(ascii: "=")) ?? position
            let name = message[LWS.trimmed(message.bytes, (semicolon + 1)..<nameEnd)]
            guard PercentEscape.resolved(name).equalsIgnoringCase("verstat") else { continue }
            isFound = true
            splices.remove(semicolon..<position)
        }
        return isFound
    }

    /// The end of a parameter; a URI has no quoted strings, and its parameters also end at `@` and `?`.
    private static func parameterEnd(_ message: SIPMessage, _ range: Range<Int>, hasQuotes: Bool) -> Int {
        var position = range.lowerBound
        while position < range.upperBound {
            switch message.bytes[position] {
            case UInt8(ascii: ";"): return position
            case UInt8(ascii: "@") where !hasQuotes, UInt8(ascii: "?") where !hasQuotes: return position
            case UInt8(ascii: "\"") where hasQuotes:
                position = QuotedString.end(message.bytes, openingAt: position, limit: range.upperBound)
            default: position += 1
            }
        }
        return range.upperBound
    }
}

/// The values of a Call-Info field (RFC 3261 §20.9, RFC 9796).
enum CallInfoValues {
    /// Removes the unwanted values of one field, and the line when none is left.
    ///
    /// - Parameters:
    ///   - withPages: true removes pages about the caller too (purpose info).
    ///   - isUnwanted: gets whether a value is a picture, card or reason that a phone shows as the caller's (purpose icon,
    ///     card, jcard, or call-reason).
    static func strip(
        _ message: SIPMessage, _ field: SIPMessage.HeaderField, withPages: Bool, into splices: inout Splices,
        where isUnwanted: (Bool) -> Bool
    ) {
        HeaderList.strip(message, field, into: &splices) {
            isUnwanted(isRichCallData(message, $0)) || withPages && isPage(message, $0)
        }
    }

    /// Read with brackets and without, as rich call data.
    private static func isPage(_ message: SIPMessage, _ value: Range<Int>) -> Bool {
        let extent = NameAddressExtent.scan(message.bytes, value)
        return isPage(message, in: extent.parameters) || isPage(message, in: value)
    }

    private static func isPage(_ message: SIPMessage, in parameters: Range<Int>) -> Bool {
        HeaderParameters(message.bytes, parameters).contains { name, value in
            message[name].equalsIgnoringCase("purpose") && purpose(message, value).equalsIgnoringCase("info")
        }
    }

    /// Read with brackets and without: a receiver may ignore a bracket inside a parameter.
    private static func isRichCallData(_ message: SIPMessage, _ value: Range<Int>) -> Bool {
        isRich(message, NameAddressExtent.scan(message.bytes, value).parameters) || isRich(message, value)
    }

    private static func isRich(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        HeaderParameters(message.bytes, parameters).contains { name, value in
            if message[name].equalsIgnoringCase("call-reason") { return true }
            guard message[name].equalsIgnoringCase("purpose") else { return false }
            let words: [StaticString] = ["icon", "card", "jcard", "rcd-jcard"]
            let purpose = purpose(message, value)
            return words.contains { purpose.equalsIgnoringCase($0) }
        }
    }

    /// The value of a parameter without its quotes.
    private static func purpose(_ message: SIPMessage, _ value: Range<Int>) -> ArraySlice<UInt8> {
        let text = message[value]
        guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return text }
        return text.dropFirst().dropLast()
    }
}
