// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// The known peers of the streams, by address.
package struct StreamPeers: Sendable {
    /// The required certificate names of TLS targets.
    package let serverNames: [PeerAddress: String]
    /// True for the address of a peer.
    ///
    /// The port is ignored.
    package let isPeer: @Sendable (PeerAddress) -> Bool

    /// - Parameter isPeer: true for every address by default.
    package init(
        serverNames: [PeerAddress: String] = [:], isPeer: @escaping @Sendable (PeerAddress) -> Bool = { _ in true }
    ) {
        self.serverNames = serverNames
        self.isPeer = isPeer
    }
}
