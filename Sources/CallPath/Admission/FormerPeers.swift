// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Peers as settings before had them: one that was removed, or whose addresses were others, still has calls.
///
/// A reload, or a name that now stands for another address, must not cut them off: what belongs to a transaction or a
/// dialog that came through this gateway is taken from them and sent to them. They bring no new call.
package struct FormerPeers: Sendable {
    private struct Entry: Sendable {
        let peer: GatewayTopology.Peer
        let ways: Ways
        /// Milliseconds of the monotonic clock; its last call has ended by then.
        let end: UInt64
    }

    /// By what a peer is known and reached.
    private struct Ways: Hashable, Sendable {
        let isTrunk: Bool
        let name: String
        let sources: [PeerSource]
        let certificateNames: [String]
        let targets: Set<PeerAddress>

        init(_ peer: GatewayTopology.Peer) {
            isTrunk = peer.isTrunk
            targets = Set(peer.targets.targets.map(\.address))
            switch peer {
            case .trunk(let trunk):
                (name, sources, certificateNames) = (trunk.name, trunk.sources, trunk.certificateNames)
            case .pbx(let pbx): (name, sources, certificateNames) = (pbx.name, pbx.sources, [])
            }
        }
    }

    /// A name server that answers differently each time must not make the list grow; the oldest go first.
    static let most = 64

    /// Those that were left last come last.
    private var entries: [Entry] = []

    package init() {}

    /// How many are remembered.
    package var count: Int { entries.count }

    /// What is to be remembered when a topology takes the place of another.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the monotonic clock.
    ///   - longestCall: for how many milliseconds a peer may still have calls.
    package static func left(
        by old: GatewayTopology, for next: GatewayTopology, at now: UInt64, longestCall: UInt64
    ) -> FormerPeers {
        var former = FormerPeers()
        let present = Set(next.peers.map(Ways.init))
        let left = old.peers.map { Entry(peer: $0, ways: Ways($0), end: now + longestCall) }
        let ways = Set(left.map(\.ways))
        let earlier = old.former.entries.filter { $0.end > now && !ways.contains($0.ways) }
        former.entries = (earlier + left).filter { !present.contains($0.ways) }.suffix(most)
        return former
    }

    /// The former peer that sends this way.
    func peer(of flow: Flow, isStream: Bool, at now: UInt64) -> GatewayTopology.Peer? {
        peer(at: now) { entry in
            switch entry.peer {
            case .trunk(let trunk):
                trunk.sends(flow, anyPort: isStream)
                    || trunk.certificateNames.isEmpty && trunk.targets.stand(at: flow.source, anyPort: isStream)
            case .pbx(let pbx):
                pbx.sources.contains { $0.contains(flow.source, anyPort: isStream) }
                    || pbx.targets.stand(at: flow.source, anyPort: isStream)
            }
        }
    }

    /// The former peer at an address out of a header, where something is to be sent.
    func peer(at address: PeerAddress, at now: UInt64) -> GatewayTopology.Peer? {
        peer(at: now) { $0.peer.sources.contains { $0.contains(address) } || $0.ways.targets.contains(address) }
    }

    /// The former trunk a dialog note names.
    func trunk(mark: Int, at now: UInt64) -> TrunkPeer? {
        let peer = peer(at: now) { entry in
            guard case .trunk(let trunk) = entry.peer else { return false }
            return Int(trunk.mark) == mark
        }
        guard case .trunk(let trunk) = peer else { return nil }
        return trunk
    }

    /// Whether streams may come from an address, whatever its port.
    func mayBePeer(at address: PeerAddress) -> Bool {
        entries.contains { entry in
            entry.peer.sources.contains { $0.contains(address, anyPort: true) }
                || entry.peer.targets.stand(at: address, anyPort: true)
        }
    }

    private func peer(at now: UInt64, where fits: (Entry) -> Bool) -> GatewayTopology.Peer? {
        entries.last { $0.end > now && fits($0) }?.peer
    }
}

extension GatewayTopology {
    /// Everybody who is configured, PBXs first.
    var peers: [Peer] { pbxs.map { .pbx($0) } + trunks.map { .trunk($0) } }
}

extension GatewayTopology.Peer {
    /// Where it sends from.
    var sources: [PeerSource] {
        switch self {
        case .trunk(let trunk): trunk.sources
        case .pbx(let pbx): pbx.sources
        }
    }
}
