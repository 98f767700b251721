// SPDX-License-Identifier: Apache-2.0

import Glibc

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
