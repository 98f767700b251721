// SPDX-License-Identifier: Apache-2.0

import Branding
public import SIPCore

/// The local sockets and all peers.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class GatewayTopology: Sendable {
    public let sockets: [LocalSocket]
    public let trunks: [TrunkPeer]
    public let pbxs: [PBXPeer]
    /// The routes of trunks' calls by called number.
    public let routes: CallRoutes
    /// Peers of former settings that may still have calls.
    public let former: FormerPeers
    /// The caller of a test call; nil without one.
    public let test: TestTrunk?
    /// Whether any local address is one of TCP or TLS.
    let hasStreams: Bool
    /// Names in lower case of the header fields that only the gateway writes, each once.
    let ownHeaders: [ArraySlice<UInt8>]
    /// The emergency numbers of all trunks.
    let emergencyNumbers: EmergencyNumbers
    private let pbxAddresses: PBXAddresses

    /// The sender of a message.
    public enum Peer: Sendable {
        case trunk(TrunkPeer)
        case pbx(PBXPeer)
    }

    /// - Parameters:
    ///   - former: peers of former settings.
    ///   - test: the caller of a test call.
    public init(
        sockets: [LocalSocket], trunks: [TrunkPeer], pbxs: [PBXPeer], routes: CallRoutes = CallRoutes(),
        former: FormerPeers = FormerPeers(), test: TestTrunk? = nil
    ) {
        self.former = former
        self.test = test
        self.sockets = sockets
        self.routes = routes
        self.trunks = trunks
        self.pbxs = pbxs
        pbxAddresses = PBXAddresses(pbxs)
        emergencyNumbers = EmergencyNumbers(of: trunks.map(\.emergencyNumbers))
        hasStreams = sockets.contains { $0.transport.isReliable }
        ownHeaders = Set(trunks.compactMap { $0.trunkHeader?.lowercased() }).sorted().map { Array($0.utf8)[...] }
    }

    /// The same topology with the former peers of the one it replaces.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the monotonic clock.
    ///   - longestCall: milliseconds for which a former peer may still have calls.
    public func succeeding(_ old: GatewayTopology, at now: UInt64, longestCall: UInt64) -> GatewayTopology {
        GatewayTopology(
            sockets: sockets, trunks: trunks, pbxs: pbxs, routes: routes,
            former: .left(by: old, for: self, at: now, longestCall: longestCall), test: test)
    }

    /// The same topology with the caller of a test call, or without any.
    public func testing(_ test: TestTrunk?) -> GatewayTopology {
        GatewayTopology(sockets: sockets, trunks: trunks, pbxs: pbxs, routes: routes, former: former, test: test)
    }

    /// The peer of a message: the caller of a test call for the ordered call alone, else the configured peer.
    func peer(of message: SIPMessage, by flow: Flow) -> Peer? {
        if let test, test.isCaller(flow), test.isOrdered(message) { return .trunk(test.trunk) }
        return configuredPeer(of: flow)
    }

    /// The peer that sends this way: the caller of a test call by its one port, else the configured peer.
    public func peer(of flow: Flow) -> Peer? {
        if let test, test.isCaller(flow) { return .trunk(test.trunk) }
        return configuredPeer(of: flow)
    }

    /// The configured peer that sends this way; nil for an unknown peer.
    ///
    /// PBXs come first, then trunks in their order. Of trunks that share a source, the trunk of the receiving socket wins.
    /// A stream has an ephemeral source port, so its port does not count if no source matches with it. Without a matching
    /// source, a peer with a target at that address matches: targets send their responses from there.
    func configuredPeer(of flow: Flow) -> Peer? {
        let isStream = isStream(flow)
        return peer(of: flow, anyPort: false) ?? (isStream ? peer(of: flow, anyPort: true) : nil)
            ?? peer(withTargetAt: flow.source, anyPort: isStream, by: flow.socket)
    }

    /// The former peer that sends this way; its messages are accepted only for calls it has.
    func formerPeer(of flow: Flow, at now: Moment) -> Peer? {
        former.peer(of: flow, isStream: isStream(flow), at: now.milliseconds)
    }

    private func isStream(_ flow: Flow) -> Bool {
        sockets.indices.contains(flow.socket) && sockets[flow.socket].transport.isReliable
    }

    private func peer(withTargetAt address: PeerAddress, anyPort: Bool, by socket: Int) -> Peer? {
        if let pbx = pbxAddresses.first(at: address, where: { $0.targets.hasTarget(at: address, anyPort: anyPort) }) {
            return .pbx(pbx)
        }
        var found: TrunkPeer?
        for trunk in trunks
        where trunk.certificateNames.isEmpty && trunk.targets.hasTarget(at: address, anyPort: anyPort) {
            if trunk.socket == socket { return .trunk(trunk) }
            if found == nil { found = trunk }
        }
        return found.map { .trunk($0) }
    }

    private func peer(of flow: Flow, anyPort: Bool) -> Peer? {
        let pbx = pbxAddresses.first(at: flow.source) { pbx in
            pbx.sources.contains { $0.contains(flow.source, anyPort: anyPort) }
        }
        if let pbx { return .pbx(pbx) }
        var found: TrunkPeer?
        for trunk in trunks where trunk.sends(flow, anyPort: anyPort) {
            if trunk.socket == flow.socket { return .trunk(trunk) }
            if found == nil { found = trunk }
        }
        return found.map { .trunk($0) }
    }

    /// The configured peer at an address to send to; its certificate is checked when the connection opens.
    ///
    /// - Parameter now: nil to leave out former peers.
    func peer(at address: PeerAddress, orFormerAt now: Moment? = nil) -> Peer? {
        if let test, test.isCaller(at: address) { return .trunk(test.trunk) }
        if let peer = configuredPeer(of: Flow(source: address, socket: -1)) { return peer }
        let named = trunks.first { trunk in
            trunk.targets.hasTarget(at: address, anyPort: false)
                || trunk.sources.contains { $0.contains(address, anyPort: false) }
        }
        return named.map { .trunk($0) } ?? now.flatMap { former.peer(at: address, at: $0.milliseconds) }
    }

    /// Whether a peer may send from an address, whatever its port and before it shows a certificate.
    public func mayBePeer(at address: PeerAddress) -> Bool { number(ofPeerAt: address) != nil }

    /// The number of the peer that may send from an address, as `mayBePeer` finds it; nil for an unknown peer.
    ///
    /// All former peers have one number.
    public func number(ofPeerAt address: PeerAddress) -> UInt64? {
        func isPresent(_ sources: [PeerSource], _ group: TargetGroup) -> Bool {
            sources.contains { $0.contains(address, anyPort: true) } || group.hasTarget(at: address, anyPort: true)
        }
        if let pbx = pbxAddresses.first(at: address, where: { isPresent($0.sources, $0.targets) }) {
            return Peer.pbx(pbx).number
        }
        if let trunk = trunks.first(where: { isPresent($0.sources, $0.targets) }) { return Peer.trunk(trunk).number }
        return former.mayBePeer(at: address) ? .max : nil
    }

    /// The trunk of a PBX's call: by the URI's host, else by the receiving socket, else the first.
    func trunk(for uri: SIPURI?, from flow: Flow) -> TrunkPeer? {
        if let uri, let address = PeerAddress(host: uri.host, port: uri.port ?? 5060) {
            let named =
                trunks.first { $0.targets.targets.contains { $0.address == address } }
                ?? trunks.first { $0.sources.contains { $0.contains(address, anyPort: true) } }
            if let named { return named }
        }
        if let uri, let named = trunks.first(where: { $0.hosts.contains { HostName.same(uri.host, $0) } }) {
            return named
        }
        return trunks.first { $0.pbxSocket == flow.socket } ?? trunks.first
    }

    /// The trunk with the mark of a route cookie or a call update.
    func trunk(mark: Int, at now: Moment) -> TrunkPeer? {
        if mark == Int(TrunkPeer.testMark) { return test?.trunk }
        return trunks.first { Int($0.mark) == mark } ?? former.trunk(mark: mark, at: now.milliseconds)
    }

    /// The local socket to an address of a peer: the dialog's own if it has the wanted transport and family, else that of a
    /// target there, else any socket that has them.
    ///
    /// - Parameter usual: used where nothing else matches.
    func socket(
        toReach address: PeerAddress, among group: TargetGroup, by transport: SIPTransportKind?,
        ofDialog own: Int? = nil, otherwise usual: Int
    ) -> Int {
        var target: Int?
        for other in group.targets where other.address == address {
            let isWanted = transport == nil || sockets[other.socket].transport == transport
            if isWanted || target == nil { target = other.socket }
            if isWanted { break }
        }
        let usual = own ?? usual
        let wanted =
            target.map { sockets[$0].transport } ?? transport
            ?? (sockets.indices.contains(usual) ? sockets[usual].transport : .udp)
        let fits =
            sockets.indices.contains(usual) && sockets[usual].transport == wanted
            && sockets[usual].address.isIPv6 == address.isIPv6
        if fits, own != nil || target == nil { return usual }
        if let target { return target }
        return sockets.first { $0.transport == wanted && $0.address.isIPv6 == address.isIPv6 }?.position ?? usual
    }
}

extension GatewayTopology {
    /// All configured peers, PBXs first.
    var peers: [Peer] { pbxs.map { .pbx($0) } + trunks.map { .trunk($0) } }

    /// Whether a configured peer fits.
    func hasPeer(where fits: (Peer) -> Bool) -> Bool {
        trunks.contains { fits(.trunk($0)) } || pbxs.contains { fits(.pbx($0)) }
    }
}

extension GatewayTopology.Peer {
    var isTrusted: Bool {
        if case .trunk(let trunk) = self { trunk.isTrusted } else { true }
    }

    var isTrunk: Bool {
        if case .trunk = self { true } else { false }
    }

    /// Whether it is the caller of a test call.
    var isTest: Bool {
        if case .trunk(let trunk) = self { trunk.isTest } else { false }
    }

    /// A number of this peer alone.
    var number: UInt64 {
        switch self {
        case .trunk(let trunk): 1 << 16 | UInt64(trunk.mark)
        case .pbx(let pbx): 2 << 16 | UInt64(pbx.mark)
        }
    }

    /// The addresses it sends from.
    var sources: [PeerSource] {
        switch self {
        case .trunk(let trunk): trunk.sources
        case .pbx(let pbx): pbx.sources
        }
    }

    /// The targets of requests to it.
    var targets: TargetGroup {
        switch self {
        case .trunk(let trunk): trunk.targets
        case .pbx(let pbx): pbx.targets
        }
    }

    /// The local socket usually used towards it.
    var socket: Int {
        switch self {
        case .trunk(let trunk): trunk.socket
        case .pbx(let pbx): pbx.targets.targets.first?.socket ?? 0
        }
    }

    /// The socket of all the trunk's dialogs towards the PBX; nil for that of the PBX's target.
    var pbxSocket: Int? {
        if case .trunk(let trunk) = self { trunk.pbxSocket } else { nil }
    }
}
