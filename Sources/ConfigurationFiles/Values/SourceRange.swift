// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A range of source addresses with an optional port: `203.0.113.0/24`, `127.0.0.1:5060`, `[2001:db8::]/32`.
package struct SourceRange: Hashable, Sendable, CustomStringConvertible {
    /// The network address, IPv6 without brackets.
    package let host: String
    package let isIPv6: Bool
    /// The number of leading bits that must match.
    package let prefixLength: Int
    /// The required port; nil matches any port.
    package let port: UInt16?

    package var description: String {
        let address = isIPv6 ? "[\(host)]" : host
        return address + (isSingle ? "" : "/\(prefixLength)") + (port.map { ":\($0)" } ?? "")
    }

    /// True if the range is a single address.
    package var isSingle: Bool { prefixLength == (isIPv6 ? 128 : 32) }

    /// The address, or the first one of a network that a machine may have.
    package var firstHost: String {
        guard !isSingle, let address = AddressBytes(host) else { return host }
        if isIPv6 { return host.hasSuffix("::") ? host + "1" : host }
        let bytes = address.bytes.dropLast() + [address.bytes[3] | 1]
        return bytes.map { "\($0)" }.joined(separator: ".")
    }

    /// Parses an address or a network, with an optional port.
    package static func read(_ text: String) throws(AddressProblem) -> SourceRange {
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

    /// True if this range contains an address with its port; false for a name.
    package func covers(_ address: EndpointAddress) -> Bool {
        let other = SourceRange(
            host: address.host, isIPv6: address.isIPv6, prefixLength: address.isIPv6 ? 128 : 32, port: address.port)
        return !address.isName && covers(other)
    }

    /// True if this range contains the whole other range.
    package func covers(_ other: SourceRange) -> Bool {
        guard isIPv6 == other.isIPv6, prefixLength <= other.prefixLength, port == nil || port == other.port,
            let mine = AddressBytes(host), let its = AddressBytes(other.host)
        else { return false }
        return AddressBytes.agree(its.bytes, mine.bytes, bits: prefixLength)
    }
}
