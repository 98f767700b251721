// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An address literal and a port as configuration writes them: `192.0.2.1:5060`, `[2001:db8::1]:5060`.
package struct EndpointAddress: Hashable, Sendable, CustomStringConvertible {
    /// The literal, IPv6 without brackets; or a host name where names are allowed.
    package let host: String
    package let port: UInt16
    package let isIPv6: Bool
    /// True for a host name, which is resolved while the gateway runs.
    package let isName: Bool
    /// False when the port is the usual one because none was written; a name's SRV records then say it.
    package let hasPort: Bool

    package init(host: String, port: UInt16, isIPv6: Bool, isName: Bool = false, hasPort: Bool = true) {
        self.host = host
        self.port = port
        self.isIPv6 = isIPv6
        self.isName = isName
        self.hasPort = hasPort
    }

    package var description: String {
        if isName, !hasPort { return host }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    package static func == (left: EndpointAddress, right: EndpointAddress) -> Bool {
        left.host == right.host && left.port == right.port
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }

    /// True for 127.0.0.0/8 and ::1.
    package var isLoopback: Bool { isIPv6 ? AddressBytes(host) == AddressBytes("::1") : host.hasPrefix("127.") }

    /// True for the address that stands for every interface.
    var isWildcard: Bool { AddressBytes(host)?.bytes.allSatisfy { $0 == 0 } ?? false }

    /// Reads a literal with its port, or with the default one when a default is given.
    package static func read(
        _ text: String, defaultPort: UInt16?, allowsNames: Bool = false, allowsPortZero: Bool = false
    ) throws(AddressProblem) -> EndpointAddress {
        let (host, portText) = try split(text)
        var port = defaultPort
        if let portText { port = try readPort(portText, allowsZero: allowsPortZero) }
        guard let port else { throw .missingPort }
        if let literal = AddressBytes(host) {
            return EndpointAddress(host: host, port: port, isIPv6: literal.isIPv6, hasPort: portText != nil)
        }
        guard isName(host) else { throw .badHost(host) }
        guard allowsNames else { throw .name(host) }
        return EndpointAddress(host: host, port: port, isIPv6: false, isName: true, hasPort: portText != nil)
    }

    /// Takes `host`, `host:port`, `[v6]`, `[v6]:port` and a bare IPv6 literal apart.
    static func split(_ text: String) throws(AddressProblem) -> (host: String, port: String?) {
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .badHost(text) }
            let host = String(text[text.index(after: text.startIndex)..<close])
            let rest = text[text.index(after: close)...]
            guard AddressBytes(host)?.isIPv6 == true else { throw .badHost(text) }
            if rest.isEmpty { return (host, nil) }
            guard rest.hasPrefix(":") else { throw .badHost(text) }
            return (host, String(rest.dropFirst()))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2 { return (String(parts[0]), String(parts[1])) }
        // More colons and no brackets: an IPv6 literal without a port, unless its end looks like one.
        if parts.count > 2, let last = parts.last, (4...5).contains(last.utf8.count), let port = UInt16(last),
            AddressBytes(parts.dropLast().joined(separator: ":")) != nil
        {
            throw .unbracketed(text, port: port)
        }
        return (text, nil)
    }

    static func readPort(_ text: String, allowsZero: Bool = false) throws(AddressProblem) -> UInt16 {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = UInt16(text), number > 0 || allowsZero else { throw .badPort(text) }
        return number
    }

    private static func isName(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.count <= 253 && host.utf8.contains { (97...122).contains($0 | 0x20) }
            && host.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
    }
}

/// A range of source addresses, with or without a port: `203.0.113.0/24`, `127.0.0.1:5060`, `[2001:db8::]/32`.
package struct SourceRange: Hashable, Sendable, CustomStringConvertible {
    /// The network's literal, IPv6 without brackets.
    package let host: String
    package let isIPv6: Bool
    /// Leading bits that must agree.
    package let prefixLength: Int
    /// The one port allowed; nil for any.
    package let port: UInt16?

    package var description: String {
        let address = isIPv6 ? "[\(host)]" : host
        return address + (isSingle ? "" : "/\(prefixLength)") + (port.map { ":\($0)" } ?? "")
    }

    /// True when exactly one address is meant.
    var isSingle: Bool { prefixLength == (isIPv6 ? 128 : 32) }

    static func read(_ text: String) throws(AddressProblem) -> SourceRange {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first else { throw .badHost(text) }
        let (host, portText) = try EndpointAddress.split(String(first))
        guard let address = AddressBytes(host) else { throw .badHost(text) }
        let widest = address.bytes.count * 8
        var length = widest
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...widest).contains(number) else {
                throw .badPrefix(String(parts[1]), widest: widest)
            }
            length = number
        }
        guard address.isNetwork(length: length) else { throw .hostBits(text, length: length) }
        let port: UInt16? = if let portText { try EndpointAddress.readPort(portText) } else { nil }
        return SourceRange(host: host, isIPv6: address.isIPv6, prefixLength: length, port: port)
    }

    /// True when everything in the other range is in this one too.
    func covers(_ other: SourceRange) -> Bool {
        guard isIPv6 == other.isIPv6, prefixLength <= other.prefixLength, port == nil || port == other.port,
            let mine = AddressBytes(host), let its = AddressBytes(other.host)
        else { return false }
        return mine.agrees(with: its, bits: prefixLength)
    }
}

/// Why an address could not be read.
package enum AddressProblem: Error, Hashable, CustomStringConvertible {
    case badHost(String)
    case name(String)
    case badPort(String)
    case missingPort
    /// An IPv6 address whose last group may be a port.
    case unbracketed(String, port: UInt16)
    case badPrefix(String, widest: Int)
    case hostBits(String, length: Int)
    /// Any other text that does not fit its key, in a sentence of its own.
    case unfit(String)

    package var description: String {
        switch self {
        case .badHost(let text): "\"\(text)\" is no IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"
        case .name(let text):
            "\"\(text)\" is a name; give the address itself, because nothing is resolved while calls wait"
        case .badPort(let text): "port \"\(text)\" is out of range (1 to 65535)"
        case .missingPort: "the port is missing (write 192.0.2.1:5060)"
        case .unbracketed(let text, let port):
            "\"\(text)\" can be read two ways; write [\(text.dropLast("\(port)".utf8.count + 1))]:\(port) with a port, "
                + "or [\(text)] without one"
        case .badPrefix(let text, let widest): "\"/\(text)\" is no prefix length (0 to \(widest))"
        case .hostBits(let text, let length):
            "\"\(text)\" has bits set behind the first \(length); write the network's first address, or one address alone"
        case .unfit(let sentence): sentence
        }
    }
}

/// The four or sixteen bytes of an address literal.
struct AddressBytes: Hashable {
    let bytes: [UInt8]

    var isIPv6: Bool { bytes.count == 16 }

    /// Nil for anything that is no literal; IPv6 without brackets and without a zone.
    init?(_ host: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, host, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// True when the first bits of both are the same; both are of one family.
    func agrees(with other: AddressBytes, bits: Int) -> Bool {
        bytes.indices.allSatisfy { position in
            let mask = Self.mask(bits - position * 8)
            return bytes[position] & mask == other.bytes[position] & mask
        }
    }

    /// True when no bit behind the first ones is set.
    func isNetwork(length: Int) -> Bool {
        bytes.indices.allSatisfy { bytes[$0] & ~Self.mask(length - $0 * 8) == 0 }
    }

    /// The leading `bits` of a byte; all for eight or more, none for zero or less.
    private static func mask(_ bits: Int) -> UInt8 { bits >= 8 ? 0xFF : bits <= 0 ? 0 : ~(0xFF >> UInt8(bits)) }
}
