// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// Whom the streams know, by address.
package struct StreamPeers: Sendable {
    /// The names that certificates of TLS targets must carry.
    package let serverNames: [PeerAddress: String]
    /// True where a peer may come from; the port does not count.
    package let isPeer: @Sendable (PeerAddress) -> Bool

    /// - Parameter isPeer: everyone is one by default.
    package init(
        serverNames: [PeerAddress: String] = [:], isPeer: @escaping @Sendable (PeerAddress) -> Bool = { _ in true }
    ) {
        self.serverNames = serverNames
        self.isPeer = isPeer
    }
}
