// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IP address and a port: where a datagram came from or goes to.
package struct PeerAddress: Hashable, Sendable {
    /// The sixteen address bytes in network order as two integers; IPv4 sits in the low 32 bits of `low`.
    package let high: UInt64
    package let low: UInt64
    package let port: UInt16
    package let isIPv6: Bool

    /// An IPv4 address from its 32 bits, the first octet being the highest.
    package init(ipv4: UInt32, port: UInt16) {
        high = 0
        low = UInt64(ipv4)
        self.port = port
        isIPv6 = false
    }

    /// An IPv6 address from its two halves.
    package init(ipv6High: UInt64, low: UInt64, port: UInt16) {
        high = ipv6High
        self.low = low
        self.port = port
        isIPv6 = true
    }

    /// Reads an address literal, IPv6 with or without brackets; nil for host names.
    package init?(host: ArraySlice<UInt8>, port: UInt16) {
        var text = host
        if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") { text = text.dropFirst().dropLast() }
        guard text.count <= 45, !text.isEmpty, !text.contains(0) else { return nil }
        let string = text.map { CChar(bitPattern: $0) } + [0]
        var four = in_addr()
        if inet_pton(AF_INET, string, &four) == 1 {
            self.init(ipv4: UInt32(bigEndian: four.s_addr), port: port)
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, string, &six) == 1 else { return nil }
        let halves = withUnsafeBytes(of: six) { raw in
            (raw.loadUnaligned(as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(ipv6High: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1), port: port)
    }

    /// The same address with another port.
    package func with(port: UInt16) -> PeerAddress {
        isIPv6 ? .init(ipv6High: high, low: low, port: port) : .init(ipv4: UInt32(truncatingIfNeeded: low), port: port)
    }

    /// True when both are the same host.
    package func hasSameHost(as other: PeerAddress) -> Bool {
        high == other.high && low == other.low && isIPv6 == other.isIPv6
    }
}

extension PeerAddress: CustomStringConvertible {
    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    package var description: String { "\(hostText):\(port)" }

    /// The address as Via and Record-Route carry it: IPv6 in brackets (RFC 3261 §20.42).
    package var hostText: String { isIPv6 ? "[\(bareHostText)]" : bareHostText }

    /// The address as the received parameter carries it: IPv6 without brackets (RFC 3261 §25.1).
    package var bareHostText: String {
        guard isIPv6 else {
            return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
        }
        var six = in6_addr()
        withUnsafeMutableBytes(of: &six) { raw in
            raw.storeBytes(of: high.bigEndian, as: UInt64.self)
            raw.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &six, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
