// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// Where a request goes: by its route, by the dialog's cookie, or to a configured target (RFC 3261 §16.5, §16.6 step 7).

extension SIPGateway {
    /// The next hop of a request.
    ///
    /// Its route decides where it leads to a known peer on the other side. Inside a dialog a host name counts that a target
    /// is configured by, and then the end of the dialog that the cookie names. So a container's inner address or a
    /// carrier's internal name in Contact does not send the request to another target. All else goes to the targets
    /// configured there. Nothing is sent to addresses nobody configured (no open relay).
    func nextHop(of arrival: Arrival, _ routes: RouteSet, from peer: GatewayTopology.Peer) -> OnwardRequest {
        let topology = settings.topology
        let cookie = routes.cookie.flatMap { $0.note.isOf(peer) ? $0 : nil }
        let group: TargetGroup?
        var onward: OnwardRequest
        switch peer {
        case .trunk(let trunk):
            let note = cookie?.note ?? DialogNote(trunk: Int(trunk.mark), isInbound: true, isBranded: false)
            onward = OnwardRequest(note: note, sealedNote: cookie?.note, isFromTrunk: true)
            group = trunk.pbx.targets
        case .pbx:
            let noted = cookie.flatMap { topology.trunk(mark: $0.note.trunk, at: arrival.now) }
            let trunk = noted ?? topology.trunk(for: routes.nextHop, from: arrival.flow)
            let note = cookie?.note ?? DialogNote(trunk: Int(trunk?.mark ?? 0), isInbound: false, isBranded: false)
            onward = OnwardRequest(note: note, sealedNote: cookie?.note, isFromTrunk: false)
            onward.trunk = trunk
            group = trunk?.targets
        }
        onward.hasForeignNote = routes.cookie != nil && cookie == nil
        if follow(routes.nextHop, cookie, of: arrival, from: peer, into: &onward) { return onward }
        guard let group else { return onward }
        let call = reporter.identifier(of: arrival.message, direction: onward.isFromTrunk ? .inbound : .outbound)
        var targets = order(group, for: call, at: arrival.now)
        // Inside a dialog the one target that has it is meant; without a way to know it, the first is asked all the same.
        guard let target = targets.next() ?? (arrival.message.isInDialog ? group.targets.first : nil) else {
            return onward
        }
        onward.hop = hop(to: target, by: peer.pbxSocket)
        onward.standing = target.standing
        if !arrival.message.isInDialog { onward.targets = targets }
        return onward
    }

    /// Takes the one place a request's route or its dialog leads to; false where neither shows a peer on the other side.
    private func follow(
        _ uri: SIPURI?, _ cookie: DialogCookie?, of arrival: Arrival, from peer: GatewayTopology.Peer,
        into onward: inout OnwardRequest
    ) -> Bool {
        let former = cookie == nil ? nil : arrival.now
        if let uri, let address = PeerAddress(host: uri.host, port: uri.port ?? uri.transport.defaultPort) {
            let end = DialogEnd(address: address, transport: uri.transport)
            if let named = holder(of: end, cookie, orFormerAt: former, otherSideOf: peer) {
                go(to: end, of: named, from: peer, into: &onward)
                return true
            }
        }
        guard arrival.message.isInDialog else { return false }
        let known = cookie?.end(oppositeOf: peer)
        if let uri,
            let address = settings.topology.address(
                named: uri, from: peer, onward.trunk, preferring: known?.address, at: arrival.now)
        {
            let end = DialogEnd(address: address, transport: uri.transport)
            if let named = holder(of: end, cookie, orFormerAt: former, otherSideOf: peer) {
                go(to: end, of: named, from: peer, into: &onward)
                return true
            }
        }
        guard let known, let named = holder(of: known, cookie, orFormerAt: former, otherSideOf: peer) else {
            return false
        }
        go(to: known, of: named, from: peer, into: &onward)
        return true
    }

    /// The peer on the other side that has an address; of trunks that share it, the one of the dialog.
    private func holder(
        of end: DialogEnd, _ cookie: DialogCookie?, orFormerAt now: Moment?, otherSideOf peer: GatewayTopology.Peer
    ) -> GatewayTopology.Peer? {
        let topology = settings.topology
        if !peer.isTrunk, let cookie, let now, let trunk = topology.trunk(mark: cookie.note.trunk, at: now),
            trunk.reaches(end) || trunk.isKnownByCertificateAlone && end == cookie.end(oppositeOf: peer)
        {
            return .trunk(trunk)
        }
        guard let found = topology.peer(at: end.address, orFormerAt: now), found.isTrunk != peer.isTrunk else {
            return nil
        }
        return found
    }

    private func go(
        to end: DialogEnd, of named: GatewayTopology.Peer, from peer: GatewayTopology.Peer,
        into onward: inout OnwardRequest
    ) {
        let topology = settings.topology
        if case .trunk(let trunk) = named { onward.trunk = trunk }
        let socket = topology.socket(
            toReach: end.address, among: named.targets, by: end.transport, ofDialog: peer.pbxSocket,
            otherwise: named.socket)
        onward.hop = NextHop(
            address: end.address, socket: socket, isReliable: topology.sockets[socket].transport.isReliable)
    }
}

extension DialogNote {
    /// Whether the dialog is one of the peer that sends a request in it: another trunk gains nothing by its cookie.
    func isOf(_ peer: GatewayTopology.Peer) -> Bool {
        if case .trunk(let sender) = peer { trunk == Int(sender.mark) } else { true }
    }
}

extension DialogCookie {
    /// The end of the dialog that a request of this peer is for.
    func end(oppositeOf peer: GatewayTopology.Peer) -> DialogEnd { note.isInbound == peer.isTrunk ? target : origin }
}

extension TrunkPeer {
    /// Whether its requests may go there: a target of it, or where it sends from.
    func reaches(_ end: DialogEnd) -> Bool {
        targets.stand(at: end.address, anyPort: false)
            || sources.contains { $0.contains(end.address, anyPort: end.transport.isReliable) }
    }

    /// Whether no source tells where it sends from: it shows its certificate, there as here.
    var isKnownByCertificateAlone: Bool { sources.isEmpty && !certificateNames.isEmpty }
}

extension GatewayTopology {
    /// The address a URI's host means where a target on the other side is configured by that name.
    ///
    /// - Parameter trunk: the trunk a PBX's request goes to.
    fileprivate func address(
        named uri: SIPURI, from peer: Peer, _ trunk: TrunkPeer?, preferring end: PeerAddress?, at now: Moment
    ) -> PeerAddress? {
        guard !uri.host.isEmpty else { return nil }
        func address(in group: TargetGroup) -> PeerAddress? {
            group.address(named: uri.host, port: uri.port, preferring: end, at: now.milliseconds)
        }
        switch peer {
        case .trunk(let sender):
            if let found = address(in: sender.pbx.targets) { return found }
            for pbx in pbxs { if let found = address(in: pbx.targets) { return found } }
        case .pbx:
            if let trunk, let found = address(in: trunk.targets) { return found }
            for other in trunks { if let found = address(in: other.targets) { return found } }
        }
        return nil
    }
}

extension SIPURI {
    /// The transport its resource is reached by: TLS for sips, else the one it names, else UDP (RFC 3263 §4.1).
    var transport: SIPTransportKind {
        scheme == .sips ? .tls : parameter("transport").flatMap { SIPTransportKind($0) } ?? .udp
    }
}

extension GatewayTopology.Peer {
    var isTrusted: Bool {
        if case .trunk(let trunk) = self { trunk.isTrusted } else { true }
    }

    var isTrunk: Bool {
        if case .trunk = self { true } else { false }
    }

    /// The socket by which all of a trunk's dialogs go to the PBX; nil for the one of the PBX's target.
    fileprivate var pbxSocket: Int? {
        if case .trunk(let trunk) = self { trunk.pbxSocket } else { nil }
    }

    /// Tells it from every other peer.
    var number: UInt64 {
        switch self {
        case .trunk(let trunk): 1 << 16 | UInt64(trunk.mark)
        case .pbx(let pbx): 2 << 16 | UInt64(pbx.mark)
        }
    }
}

/// A request as it goes on.
struct OnwardRequest {
    var bytes: [UInt8] = []
    /// Nil when no target is up.
    var hop: NextHop?
    var standing: TargetStanding?
    /// What may be tried after it.
    var targets = TargetOrder()
    let note: DialogNote
    /// The note that came back in the request's Route; nil when none did.
    let sealedNote: DialogNote?
    /// The Route brought the note of a dialog that is not the sender's.
    var hasForeignNote = false
    /// From is another one than its sender's.
    var changesFrom = false
    /// The gateway has put its address into Path.
    var carriesPath = false
    let isFromTrunk: Bool
    /// The trunk it goes to; nil for a trunk's own request.
    var trunk: TrunkPeer?

    init(note: DialogNote, sealedNote: DialogNote?, isFromTrunk: Bool) {
        self.note = note
        self.sealedNote = sealedNote
        self.isFromTrunk = isFromTrunk
    }
}
