// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore

/// The peers of addresses that traces have seen, so that a message costs one lookup.
struct TracedPeers {
    private struct Place: Hashable {
        let address: PeerAddress
        let socket: Int
        let isReceived: Bool
    }

    private static let most = 4096

    private var settings: GatewaySettings?
    private var known: [Place: GatewayTopology.TracedPeer?] = [:]

    /// Forgets the peers of other settings.
    mutating func use(_ settings: GatewaySettings) {
        if self.settings === settings { return }
        self.settings = settings
        known = [:]
    }

    /// The peer at the far end of a message; nil for an unknown peer.
    mutating func peer(of record: TraceRecord, _ topology: GatewayTopology) -> GatewayTopology.TracedPeer? {
        // A certificate belongs to a connection, and former peers end by time.
        if record.certified != nil || topology.hasFormerPeers { return topology.tracedPeer(of: record) }
        let place = Place(address: record.address, socket: record.socket, isReceived: record.kind == .received)
        if let peer = known[place] { return peer }
        let peer = topology.tracedPeer(of: record)
        if known.count >= Self.most { known = [:] }
        known[place] = .some(peer)
        return peer
    }
}
