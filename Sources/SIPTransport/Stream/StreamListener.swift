// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// A local address for TCP, or for TLS if it has an identity.
package struct StreamListener: Sendable {
    /// Position among all local addresses.
    package let position: Int
    package let address: PeerAddress
    /// Whether another machine may have the address at present.
    package let mayBeAbsent: Bool
    /// Certificate and key for TLS; nil for TCP.
    package let identity: TLSIdentity?

    package init(position: Int, address: PeerAddress, mayBeAbsent: Bool = false, identity: TLSIdentity? = nil) {
        self.mayBeAbsent = mayBeAbsent
        self.position = position
        self.address = address
        self.identity = identity
    }
}
