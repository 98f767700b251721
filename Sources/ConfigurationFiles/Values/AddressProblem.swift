// SPDX-License-Identifier: Apache-2.0

/// The reason why an address or another text is invalid.
package enum AddressProblem: Error, Hashable, CustomStringConvertible {
    case badHost(String)
    case name(String)
    case badPort(String)
    case missingPort
    /// An IPv6 address whose last group may be a port.
    case unbracketed(String, port: UInt16)
    case badPrefix(String, widest: Int)
    case hostBits(String, length: Int)
    /// Any other invalid text, with a complete message.
    case unfit(String)

    package var description: String {
        switch self {
        case .badHost(let text):
            "\"\(Self.shown(text))\" is not an IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"
        case .name(let text):
            "\"\(Self.shown(text))\" is a host name; write an address, because this key is not resolved"
        case .badPort(let text): "port \"\(Self.shown(text))\" is out of range (1 to 65535)"
        case .missingPort: "the port is missing (write 192.0.2.1:5060)"
        case .unbracketed(let text, let port):
            "\"\(text)\" is ambiguous; write [\(text.dropLast("\(port)".utf8.count + 1))]:\(port) with a port, "
                + "or [\(text)] without one"
        case .badPrefix(let text, let widest): "\"/\(text)\" is not a prefix length (0 to \(widest))"
        case .hostBits(let text, let length):
            "\"\(text)\" has bits set after the first \(length); write the network's first address, or a single address"
        case .unfit(let sentence): sentence
        }
    }

    /// The text without what is before an `@`: a URL in place of an address may have a password there.
    private static func shown(_ text: String) -> String {
        text.lastIndex(of: "@").map { "<redacted>" + text[$0...] } ?? text
    }
}
