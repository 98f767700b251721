// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Messages as they stand on the wire, for one test each.
enum WireMessage {
    /// An INVITE of a trunk that breaks no rule.
    static let invite = [
        "INVITE sip:+4930987654@192.0.2.10 SIP/2.0",
        "Via: SIP/2.0/UDP 198.51.100.7:5060;branch=z9hG4bK776asdhds;rport",
        "Max-Forwards: 70",
        "From: \"Trunk\" <sip:+49891234567@carrier.example>;tag=1928301774",
        "To: <sip:+4930987654@192.0.2.10>",
        "Call-ID: a84b4c76e66710@198.51.100.7",
        "CSeq: 314159 INVITE",
        "Content-Length: 0",
    ]

    /// Lines ended with CRLF and the empty line, then a body.
    static func bytes(_ lines: [String], body: String = "") -> [UInt8] {
        Array((lines.map { $0 + "\r\n" }.joined() + "\r\n" + body).utf8)
    }

    /// The message of these lines.
    static func message(_ lines: [String], body: String = "") throws -> SIPMessage {
        try SIPMessage.index(bytes(lines, body: body))
    }

    /// The INVITE with the fields of those names replaced, and with what is new put at the end.
    ///
    /// A replacement is nil to leave the field out; a name stands before the colon, as in `invite`.
    static func invite(_ changes: [(name: String, line: String?)]) -> [String] {
        var lines = invite
        for change in changes {
            let place = lines.firstIndex { $0.hasPrefix(change.name) }
            if let place { lines.remove(at: place) }
            if let line = change.line { lines.insert(line, at: place ?? lines.count) }
        }
        return lines
    }
}

extension SIPMessage {
    /// A part of the message as text.
    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// The message with edits made, as text.
    func text(with splices: Splices) -> String { String(decoding: splices.applied(to: bytes), as: UTF8.self) }
}

/// The text of bytes.
func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
