// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

/// Signs by which a PBX shows that a voicemail box, a queue or a menu picks up, and no person.
///
/// SIP has no such sign; every PBX and dialplan has its own. Without rules nothing is examined.
public struct AnswererRules: Hashable, Sendable {
    /// The signs of one kind of machine; any one is enough.
    public struct Signs: Hashable, Sendable {
        /// User parts of the called URI, of a forwarding target, or of the connected party.
        public var users: [TextPattern] = []
        /// Hosts of the same URIs.
        public var hosts: [TextPattern] = []
        /// Header fields of the 2xx, with their values.
        public var headers: [HeaderSign] = []

        public init() {}

        var isEmpty: Bool { users.isEmpty && hosts.isEmpty && headers.isEmpty }
    }

    /// A header field: its name in any case, and its whole value.
    ///
    /// For fields that Herald knows, the compact form equals the long one (RFC 3261 §7.3.3).
    public struct HeaderSign: Hashable, Sendable {
        private let name: [UInt8]
        private let known: HeaderName?
        private let value: TextPattern

        public init(name: String, value: String) {
            self.name = Array(name.utf8)
            known = HeaderName(named: self.name)
            self.value = TextPattern(value)
        }

        fileprivate func matches(_ field: SIPMessage.HeaderField, of message: SIPMessage) -> Bool {
            (field.name == known || message[field.start..<field.nameEnd].equalsIgnoringCase(name[...]))
                && value.matches(message[field.value])
        }
    }

    public var voicemail = Signs()
    public var system = Signs()

    public init() {}

    /// The marks of an INVITE, by its called URI or the target it was forwarded to.
    func marks(ofInvite invite: SIPMessage) -> CallUpdate.Marks {
        // Not `[]`, which generic code builds: a thousand instructions.
        var marks = ForwardingSigns.arePresent(in: invite) ? CallUpdate.Marks.forwarded : CallUpdate.Marks()
        guard !isEmpty else { return marks }
        if let called = SIPURI(invite.bytes, invite.requestURI) { mark(called, &marks) }
        if let target = ForwardingSigns.lastTarget(of: invite) { mark(target, &marks) }
        return marks
    }

    /// The marks of a 2xx, by Contact and by the connected party in P-Asserted-Identity or Remote-Party-ID (RFC 5876 §4.4).
    func marks(ofResponse response: SIPMessage) -> CallUpdate.Marks {
        var marks = ForwardingSigns.arePresent(in: response) ? CallUpdate.Marks.forwarded : CallUpdate.Marks()
        guard !isEmpty else { return marks }
        for field in response.headers {
            if voicemail.match(field, of: response) { marks.insert(.voicemail) }
            if system.match(field, of: response) { marks.insert(.system) }
            switch field.name {
            case .contact, .pAssertedIdentity, .remotePartyID:
                for value in HeaderValues(response.bytes, field.value) {
                    let uri = NameAddressExtent.scan(response.bytes, value).uri
                    if let uri = SIPURI(response.bytes, uri) { mark(uri, &marks) }
                }
            default: break
            }
        }
        if let target = ForwardingSigns.lastTarget(of: response) { mark(target, &marks) }
        return marks
    }

    private var isEmpty: Bool { voicemail.isEmpty && system.isEmpty }

    private func mark(_ uri: SIPURI, _ marks: inout CallUpdate.Marks) {
        if voicemail.match(uri) { marks.insert(.voicemail) }
        if system.match(uri) { marks.insert(.system) }
    }
}

extension AnswererRules.Signs {
    fileprivate func match(_ uri: SIPURI) -> Bool {
        users.contains { $0.matches(uri.unescapedUser) } || hosts.contains { $0.matches(uri.host) }
    }

    fileprivate func match(_ field: SIPMessage.HeaderField, of message: SIPMessage) -> Bool {
        headers.contains { $0.matches(field, of: message) }
    }
}

/// A text pattern without case; a star at its end matches anything.
public struct TextPattern: Hashable, Sendable {
    private let text: [UInt8]
    private let isPrefix: Bool

    /// Reads `voicemail`, `*97` or `vm-*`; a star alone matches everything.
    public init(_ pattern: String) {
        isPrefix = pattern.hasSuffix("*")
        text = Array((isPrefix ? pattern.dropLast() : pattern[...]).utf8)
    }

    public func matches(_ other: ArraySlice<UInt8>) -> Bool {
        isPrefix ? other.prefix(text.count).equalsIgnoringCase(text[...]) : other.equalsIgnoringCase(text[...])
    }
}
