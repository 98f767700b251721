// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// A range of addresses, and perhaps one port, that a peer may send from.
public struct PeerSource: Hashable, Sendable {
    /// Network address; host bits are ignored.
    public let network: PeerAddress
    /// Leading bits that must agree: 0–32 for IPv4, 0–128 for IPv6.
    public let prefixLength: Int
    /// The one port allowed, nil for any.
    public let port: UInt16?

    public init(network: PeerAddress, prefixLength: Int, port: UInt16?) {
        self.network = network
        self.prefixLength = prefixLength
        self.port = port
    }

    /// True when a message from there is this peer's.
    ///
    /// - Parameter anyPort: for streams, which come from a port of the moment.
    public func contains(_ source: PeerAddress, anyPort: Bool = false) -> Bool {
        guard source.isIPv6 == network.isIPv6, anyPort || port == nil || port == source.port else { return false }
        if !network.isIPv6 { return Self.agree(source.low << 32, network.low << 32, bits: prefixLength) }
        return Self.agree(source.high, network.high, bits: min(prefixLength, 64))
            && Self.agree(source.low, network.low, bits: max(prefixLength - 64, 0))
    }

    private static func agree(_ left: UInt64, _ right: UInt64, bits: Int) -> Bool {
        bits == 0 || (left ^ right) >> UInt64(64 - bits) == 0
    }
}
