// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The 4 or 16 bytes of an IP address.
public struct AddressBytes: Hashable, Sendable {
    /// In network order.
    public let bytes: [UInt8]

    /// True for 16 bytes.
    public var isIPv6: Bool { bytes.count == 16 }

    /// Parses an address literal, IPv6 without brackets and zone. Nil for other text.
    public init?(_ host: String) {
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

    /// True if the first `bits` bits of an address are those of a network of its family, which may end with them.
    public static func agree(_ address: [UInt8], _ network: [UInt8], bits: Int) -> Bool {
        network.indices.allSatisfy { position in
            let mask = mask(bits - position * 8)
            return address[position] & mask == network[position] & mask
        }
    }

    /// Returns the first `bits` bits, the others cleared.
    public func prefix(_ bits: Int) -> [UInt8] { bytes.indices.map { bytes[$0] & Self.mask(bits - $0 * 8) } }

    /// True if no bit after the first `length` bits is set.
    public func isNetwork(length: Int) -> Bool {
        bytes.indices.allSatisfy { bytes[$0] & ~Self.mask(length - $0 * 8) == 0 }
    }

    /// Returns a mask of the leading `bits` bits of a byte, clamped to 0 and 8.
    private static func mask(_ bits: Int) -> UInt8 { bits >= 8 ? 0xFF : bits <= 0 ? 0 : ~(0xFF >> UInt8(bits)) }
}
