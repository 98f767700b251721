// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// The known peers of stream connections, by address.
package struct StreamPeers: Sendable {
    /// The required certificate names of TLS targets.
    package let serverNames: [PeerAddress: String]
    /// True if the address belongs to a peer.
    ///
    /// Ignores the port.
    package let isPeer: @Sendable (PeerAddress) -> Bool

    /// - Parameter isPeer: accepts every address by default.
    package init(
        serverNames: [PeerAddress: String] = [:], isPeer: @escaping @Sendable (PeerAddress) -> Bool = { _ in true }
    ) {
        self.serverNames = serverNames
        self.isPeer = isPeer
    }
}
