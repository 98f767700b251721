// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// The known peers of the streams, by address.
public struct StreamPeers: Sendable {
    /// The required certificate names of TLS targets.
    public let serverNames: [PeerAddress: String]
    /// A number of the peer with an address; nil for unknown peers.
    ///
    /// The port is ignored. The connections of one peer share a part of the memory.
    public let number: @Sendable (PeerAddress) -> UInt64?

    /// - Parameter number: the same peer for every address by default.
    public init(
        serverNames: [PeerAddress: String] = [:], number: @escaping @Sendable (PeerAddress) -> UInt64? = { _ in 0 }
    ) {
        self.serverNames = serverNames
        self.number = number
    }

    /// True for the address of a peer.
    func isPeer(_ address: PeerAddress) -> Bool { number(address) != nil }
}
