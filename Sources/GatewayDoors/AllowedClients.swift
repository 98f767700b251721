// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import NIOCore
import Primitives

/// The addresses whose clients a door serves.
///
/// Any thread. An IPv4 address in an IPv6 socket counts as IPv4.
package struct AllowedClients: Sendable {
    private let networks: [(network: [UInt8], bits: Int)]

    /// - Parameter ranges: ports of ranges do not count, because clients have ports of the moment.
    package init(_ ranges: [SourceRange]) {
        networks = ranges.compactMap { range in
            AddressBytes(range.host).map { (network: $0.bytes, bits: range.prefixLength) }
        }
    }

    /// Whether a range has the address.
    package func contain(_ address: [UInt8]) -> Bool {
        networks.contains { entry in
            entry.network.count == address.count && AddressBytes.agree(address, entry.network, bits: entry.bits)
        }
    }

    /// The 4 or 16 bytes of a client's address; empty without one.
    package static func bytes(of address: SocketAddress?) -> [UInt8] {
        guard let bytes = address?.ipAddress.flatMap(AddressBytes.init)?.bytes else { return [] }
        return bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes.dropFirst(mapped.count)) : bytes
    }

    /// The beginning of an IPv4 address as IPv6 (RFC 4291 §2.5.5.2).
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
}
