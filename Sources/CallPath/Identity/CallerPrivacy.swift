// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Whether a caller asks for privacy (RFC 3323, RFC 3325 §9.3, draft-ietf-sip-privacy for Remote-Party-ID).
enum CallerPrivacy {
    static func isAsked(in message: SIPMessage) -> Bool {
        if isAskedByHeader(in: message) { return true }
        for field in message.fields(.from) where isAnonymous(message, field) { return true }
        guard message.has(.remotePartyID) else { return false }
        return message.fields(.remotePartyID).contains { field in
            RemoteParty.contains(message, field) {
                RemoteParty.isSender(of: message, $0) && RemoteParty.isRestricted(message, $0)
            }
        }
    }

    /// Whether Privacy or Proxy-Require asks for it, whatever From contains (RFC 3325 §9.3).
    static func isAskedByHeader(in message: SIPMessage) -> Bool {
        guard message.has(.privacy) else { return isRequired(in: message) }
        for field in message.fields(.privacy) where asksForPrivacy(message[field.value]) { return true }
        return false
    }

    /// Whether Proxy-Require asks for a privacy service without a Privacy header that names what it wants (RFC 3323 §4.3).
    private static func isRequired(in message: SIPMessage) -> Bool {
        !message.has(.privacy) && message.requiresPrivacyOfProxies
    }

    /// Whether a Privacy value asks for the caller's privacy: `id`, `user`, `header`, an unknown value, or an empty field.
    ///
    /// `none`, `critical`, `session` (the media's addresses, RFC 3323 §4.2) and `history` (RFC 7044 §10.1) do not.
    private static func asksForPrivacy(_ value: ArraySlice<UInt8>) -> Bool {
        var start = value.startIndex
        var isEmpty = true
        while start < value.endIndex {
            var end = start
            while end < value.endIndex, !isSeparator(value[end]) { end += 1 }
            let token = value[start..<end]
            start = end + 1
            if token.isEmpty { continue }
            isEmpty = false
            let isAboutOthers =
                token.equalsIgnoringCase("none") || token.equalsIgnoringCase("critical")
                || token.equalsIgnoringCase("session") || token.equalsIgnoringCase("history")
            if !isAboutOthers { return true }
        }
        return isEmpty
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte <= 32
    }

    /// `"Anonymous" <sip:anonymous@anonymous.invalid>` and its relatives (RFC 3323 §4.1.1.3, TS 24.229 for unavailable).
    private static func isAnonymous(_ message: SIPMessage, _ field: SIPMessage.HeaderField) -> Bool {
        let known = message.first(.from)?.start == field.start ? message.from : nil
        let extent = known ?? NameAddressExtent.scan(message.bytes, field.value)
        if AnonymousNames.asksForNoName(AnonymousNames.name(in: message, extent.displayName)) { return true }
        let uri = extent.uri
        let colon = message.bytes.firstIndex(of: UInt8(ascii: ":"), in: uri)
        let start = colon.map { $0 + 1 } ?? uri.lowerBound
        let at = message.bytes.firstIndex(of: UInt8(ascii: "@"), in: start..<uri.upperBound) ?? uri.upperBound
        let userEnd = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: start..<at) ?? at
        if AnonymousNames.isUserOfNobody(PercentEscape.resolved(message[start..<userEnd])) { return true }
        let host = min(at + 1, uri.upperBound)..<uri.upperBound
        let hostEnd = message.bytes[host].firstIndex {
            $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "?")
        }
        let name = message[host.lowerBound..<(hostEnd ?? host.upperBound)]
        return name.equalsIgnoringCase("anonymous.invalid") || name.equalsIgnoringCase("unknown.invalid")
    }
}
