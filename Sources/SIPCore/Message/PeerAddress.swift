// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IP address and a port: where a datagram came from or goes to.
public struct PeerAddress: Hashable, Sendable {
    /// The sixteen address bytes in network order as two integers; IPv4 sits in the low 32 bits of `low`.
    public let high: UInt64
    public let low: UInt64
    public let port: UInt16
    public let isIPv6: Bool

    /// An IPv4 address from its 32 bits, the first octet being the highest.
    public init(ipv4: UInt32, port: UInt16) {
        high = 0
        low = UInt64(ipv4)
        self.port = port
        isIPv6 = false
    }

    /// An IPv6 address from its two halves.
    public init(ipv6High: UInt64, low: UInt64, port: UInt16) {
        high = ipv6High
        self.low = low
        self.port = port
        isIPv6 = true
    }

    /// Reads an address literal, IPv6 with or without brackets; nil for host names.
    public init?(host: ArraySlice<UInt8>, port: UInt16) { self.init(host: host.span, port: port) }

    /// Reads an address literal, IPv6 with or without brackets; nil for host names.
    init?(host: Span<UInt8>, port: UInt16) {
        var text = host
        if text.count > 1, text[0] == UInt8(ascii: "["), text[text.count - 1] == UInt8(ascii: "]") {
            text = text.extracting(1..<(text.count - 1))
        }
        if let four = Self.dottedQuad(text) {
            self.init(ipv4: four, port: port)
            return
        }
        let all = 0..<text.count
        guard text.count <= 45, text.firstIndex(of: UInt8(ascii: ":"), in: all) != nil,
            text.firstIndex(of: 0, in: all) == nil
        else { return nil }
        let string = text.withUnsafeBufferPointer { $0.map { CChar(bitPattern: $0) } } + [0]
        var six = in6_addr()
        guard inet_pton(AF_INET6, string, &six) == 1 else { return nil }
        let halves = withUnsafeBytes(of: six) { raw in
            (raw.loadUnaligned(as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(ipv6High: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1), port: port)
    }

    /// Four decimal octets without leading zeros, as inet_pton reads them; nil for anything else.
    private static func dottedQuad(_ text: Span<UInt8>) -> UInt32? {
        guard text.count >= 7, text.count <= 15 else { return nil }
        var address: UInt32 = 0
        var octet: UInt32 = 0
        var digits = 0
        var dots = 0
        for place in text.indices {
            let byte = text[place]
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                address = address << 8 | octet
                (octet, digits, dots) = (0, 0, dots + 1)
            } else {
                let digit = UInt32(byte &- UInt8(ascii: "0"))
                guard digit <= 9, digits == 0 || octet > 0 else { return nil }
                octet = octet * 10 + digit
                digits += 1
                guard octet <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? address << 8 | octet : nil
    }

    /// The same address with another port.
    public func with(port: UInt16) -> PeerAddress {
        isIPv6 ? .init(ipv6High: high, low: low, port: port) : .init(ipv4: UInt32(truncatingIfNeeded: low), port: port)
    }

    /// True when both are the same host.
    public func hasSameHost(as other: PeerAddress) -> Bool {
        high == other.high && low == other.low && isIPv6 == other.isIPv6
    }
}

extension PeerAddress: CustomStringConvertible {
    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    public var description: String { "\(hostText):\(port)" }

    /// The address as Via and Record-Route carry it: IPv6 in brackets (RFC 3261 §20.42).
    public var hostText: String { isIPv6 ? "[\(bareHostText)]" : bareHostText }

    /// The address as the received parameter carries it: IPv6 without brackets (RFC 3261 §25.1).
    public var bareHostText: String {
        var text: [UInt8] = []
        appendBareHost(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends what `bareHostText` gives.
    func appendBareHost(to out: inout [UInt8]) {
        guard isIPv6 else {
            var shift: UInt64 = 32
            while shift > 0 {
                shift -= 8
                let octet = UInt8(truncatingIfNeeded: low >> shift)
                if octet >= 100 { out.append(UInt8(ascii: "0") + octet / 100) }
                if octet >= 10 { out.append(UInt8(ascii: "0") + octet / 10 % 10) }
                out.append(UInt8(ascii: "0") + octet % 10)
                if shift > 0 { out.append(UInt8(ascii: ".")) }
            }
            return
        }
        var six = in6_addr()
        withUnsafeMutableBytes(of: &six) { raw in
            raw.storeBytes(of: high.bigEndian, as: UInt64.self)
            raw.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &six, &text, socklen_t(text.count)) != nil else { return out.append("::") }
        for character in text.prefix(while: { $0 != 0 }) { out.append(UInt8(bitPattern: character)) }
    }
}
