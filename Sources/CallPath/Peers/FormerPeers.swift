// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Peers of former settings that may still have calls: peers that were removed, or had other addresses.
///
/// Neither a reload nor a changed DNS record cuts off their calls. Messages of their transactions and dialogs are still
/// accepted and sent. They cannot begin a new call.
public struct FormerPeers: Sendable {
    private struct Entry: Sendable {
        let peer: GatewayTopology.Peer
        let ways: Ways
        /// Milliseconds of the monotonic clock; its last call has ended by then.
        let end: UInt64
    }

    /// The ways to recognise and reach a peer.
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

    /// Most entries beside the peers of the last settings, so that changing DNS responses do not grow the list; the oldest
    /// are removed first.
    static let most = 64

    /// The latest at the end.
    private var entries: [Entry] = []

    public init() {}

    /// Number of entries.
    public var count: Int { entries.count }

    /// The former peers after one topology replaces another.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the monotonic clock.
    ///   - longestCall: milliseconds for which a peer may still have calls.
    public static func left(
        by old: GatewayTopology, for next: GatewayTopology, at now: UInt64, longestCall: UInt64
    ) -> FormerPeers {
        var former = FormerPeers()
        let present = Set(next.peers.map(Ways.init))
        let left = old.peers.map { Entry(peer: $0, ways: Ways($0), end: now + longestCall) }
        let ways = Set(left.map(\.ways))
        let earlier = old.former.entries.filter { $0.end > now && !ways.contains($0.ways) }
        former.entries = (earlier + left).filter { !present.contains($0.ways) }.suffix(max(most, old.peers.count))
        return former
    }

    /// The former peer that sends this way.
    func peer(of flow: Flow, isStream: Bool, at now: UInt64) -> GatewayTopology.Peer? {
        peer(at: now) { entry in
            switch entry.peer {
            case .trunk(let trunk):
                trunk.sends(flow, anyPort: isStream)
                    || trunk.certificateNames.isEmpty && trunk.targets.hasTarget(at: flow.source, anyPort: isStream)
            case .pbx(let pbx):
                pbx.sources.contains { $0.contains(flow.source, anyPort: isStream) }
                    || pbx.targets.hasTarget(at: flow.source, anyPort: isStream)
            }
        }
    }

    /// The former peer at an address to send to.
    func peer(at address: PeerAddress, at now: UInt64) -> GatewayTopology.Peer? {
        peer(at: now) { $0.peer.sources.contains { $0.contains(address) } || $0.ways.targets.contains(address) }
    }

    /// The former trunk with the mark of a route cookie.
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
                || entry.peer.targets.hasTarget(at: address, anyPort: true)
        }
    }

    private func peer(at now: UInt64, where fits: (Entry) -> Bool) -> GatewayTopology.Peer? {
        entries.last { $0.end > now && fits($0) }?.peer
    }
}
