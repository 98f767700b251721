// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// A local address for TCP, or for TLS if it has an identity.
public struct StreamListener: Sendable {
    /// Position among all local addresses.
    public let position: Int
    public let address: PeerAddress
    /// Whether another machine may have the address at present.
    public let mayBeAbsent: Bool
    /// Certificate and key for TLS; nil for TCP.
    public let identity: TLSIdentity?

    public init(position: Int, address: PeerAddress, mayBeAbsent: Bool = false, identity: TLSIdentity? = nil) {
        self.mayBeAbsent = mayBeAbsent
        self.position = position
        self.address = address
        self.identity = identity
    }
}
