// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A response 302 that returns a request to its sender with the caller's name (RFC 3261 §8.3, §21.3.3).
///
/// Contact is the Request-URI as received, with a mark. The caller's name is in one place.
public struct Redirection: Sendable {
    /// The place of the name.
    public enum NamePlace: Hashable, Sendable {
        /// P-Asserted-Identity of the response (RFC 3325 §9.1).
        case assertedIdentity
        /// P-Asserted-Identity in the URI of Contact, for the next request of the sender (RFC 3261 §19.1.5).
        case contact
        /// A header field of this name, whose value is the name alone.
        case header(String)
    }

    private let place: NamePlace
    private let name: String
    private let caller: [UInt8]

    /// - Parameters:
    ///   - name: one line of UTF-8 without control characters.
    ///   - caller: the caller's URI, without control characters and angle brackets.
    public init(naming name: String, _ caller: [UInt8], in place: NamePlace) {
        (self.name, self.caller, self.place) = (name, caller, place)
    }

    /// The Request-URI, if the Contact of a response can have it; nil for another scheme, a malformed URI, and one with headers.
    ///
    /// Also nil with a quote or a backslash, which no URI has (RFC 3261 §25.1): a mark behind one would be read as text.
    public static func target(of request: SIPMessage) -> SIPURI? {
        let marks = [UInt8(ascii: "?"), UInt8(ascii: "\""), UInt8(ascii: "\\")]
        guard !request[request.requestURI].contains(where: marks.contains) else { return nil }
        return SIPURI(request.bytes, request.requestURI)
    }

    /// Contact, the field of the name, and Reason (RFC 3326), each behind a line end.
    ///
    /// - Parameter request: a request whose Request-URI is a `target`.
    public func fields(for request: SIPMessage) -> ResponseField {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        // RFC 3966 §3: a tel URI has no headers.
        let isTelephone = request[request.requestURI].prefix(4).equalsIgnoringCase("tel:")
        let isInContact = place == .contact && !isTelephone
        out.append("\r\nContact: <")
        out.append(request.requestURI, of: request)
        RedirectMark.append(to: &out)
        if isInContact {
            out.append("?P-Asserted-Identity=")
            Self.append(escaped: identity, to: &out)
        }
        out.append(">;q=0.99")
        if case .header(let header) = place {
            out.append("\r\n")
            out.append(contentsOf: header.utf8)
            out.append(": ")
            out.append(contentsOf: name.utf8)
        } else if !isInContact {
            out.append("\r\nP-Asserted-Identity: ")
            out.append(contentsOf: identity)
        }
        out.append("\r\nReason: SIP;cause=302;text=\"matched\"")
        return .lines(out)
    }

    /// The caller as a name-addr (RFC 3261 §25.1).
    private var identity: [UInt8] {
        var out: [UInt8] = []
        QuotedString.append(name, to: &out)
        out.append(" <")
        out.append(contentsOf: caller)
        out.append(">")
        return out
    }

    /// Writes a header of a URI: everything but letters, digits and four marks is escaped (RFC 3261 §25.1, RFC 3986 §2.1).
    private static func append(escaped text: [UInt8], to out: inout [UInt8]) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.append(byte)
            default:
                out.append(UInt8(ascii: "%"))
                out.append(digit(byte >> 4))
                out.append(digit(byte & 0xF))
            }
        }
    }
}
