// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// The next hop of a request: by its route, by the dialog's cookie, or a configured target (RFC 3261 §16.5, §16.6 step 7).

extension ProxyCore {
    /// The next hop of a request.
    ///
    /// A route to a known peer on the other side comes first. Inside a dialog the host name of a configured target is next,
    /// then the end of the dialog in the cookie. Last come the configured targets. So a container's inner address in Contact
    /// does not send the request to another target. Nothing goes to an address that is not configured (no open relay).
    func nextHop(of arrival: Arrival, _ routes: RouteSet, from peer: GatewayTopology.Peer) -> OnwardRequest {
        let topology = settings.topology
        let found = routes.cookie?.dialog
        let sealed = found?.isOf(peer) == true ? found : nil
        let cookie = sealed == nil ? nil : routes.cookie
        var onward: OnwardRequest
        switch peer {
        case .trunk(let trunk):
            let dialog = sealed ?? DialogFacts(trunk: trunk.mark, isInbound: true, isBranded: false)
            onward = OnwardRequest(dialog: dialog, sealedDialog: sealed, isFromTrunk: true)
        case .pbx:
            let known = sealed.flatMap { topology.trunk(mark: $0.trunk, at: arrival.now) }
            // A request to the caller of a test that is over goes to no other trunk.
            let isOver = known == nil && sealed?.isTest == true
            let trunk = isOver ? nil : known ?? topology.trunk(for: routes.nextHop, from: arrival.flow)
            let dialog = sealed ?? DialogFacts(trunk: trunk?.mark ?? 0, isInbound: false, isBranded: false)
            onward = OnwardRequest(dialog: dialog, sealedDialog: sealed, isFromTrunk: false)
            onward.trunk = trunk
        }
        onward.hasForeignCookie = routes.cookie != nil && cookie == nil
        let routed = routedTargets(of: arrival.message, from: peer)
        // The CANCEL of a call goes where its INVITE went, which no URI decides.
        let isCancel = arrival.message.method == .cancel && !arrival.message.isInDialog
        if routed == nil, !isCancel, follow(routes.nextHop, cookie, of: arrival, from: peer, into: &onward) {
            return onward
        }
        guard let group = routed ?? usualTargets(onward, from: peer) else { return onward }
        let call = reporter.identifier(of: arrival.message, direction: onward.isFromTrunk ? .inbound : .outbound)
        var targets = order(group, for: call, at: arrival.now)
        if isCancel, group.targets.count > 1 { onward.group = group }
        // A dialog belongs to one target. Where nothing names it, the first gets the request even if it is down.
        guard let target = targets.next() ?? (arrival.message.isInDialog || isCancel ? group.targets.first : nil) else {
            return onward
        }
        onward.hop = hop(to: target, by: peer.pbxSocket)
        onward.targetState = target.targetState
        if !arrival.message.isInDialog { onward.targets = targets }
        return onward
    }

    /// The targets by the called number's route, for a trunk's request outside a dialog, such as a CANCEL after a restart.
    private func routedTargets(of request: SIPMessage, from peer: GatewayTopology.Peer) -> TargetGroup? {
        let routes = settings.topology.routes
        guard case .trunk(let trunk) = peer, routes.areUsed, !request.isInDialog else { return nil }
        return CalledRoute(of: request, on: trunk, routes).route?.pbx?.targets
    }

    /// The targets of a request that names none: those of the trunk's PBX, or of the trunk.
    private func usualTargets(_ onward: borrowing OnwardRequest, from peer: GatewayTopology.Peer) -> TargetGroup? {
        guard case .trunk(let trunk) = peer else { return onward.trunk?.targets }
        return trunk.pbx.targets
    }

    /// Follows a request's route or its dialog; false where neither leads to a peer on the other side.
    private func follow(
        _ uri: SIPURI?, _ cookie: RouteCookie?, of arrival: Arrival, from peer: GatewayTopology.Peer,
        into onward: inout OnwardRequest
    ) -> Bool {
        let former = cookie == nil ? nil : arrival.now
        let transport = uri?.transport ?? .udp
        if let uri, let address = PeerAddress(host: uri.host, port: uri.port ?? transport.defaultPort) {
            let end = DialogEnd(address: address, transport: transport)
            if let named = holder(of: end, cookie, orFormerAt: former, otherSideOf: peer) {
                go(to: end, of: named, cookie, of: arrival, from: peer, into: &onward)
                return true
            }
        }
        guard arrival.message.isInDialog else { return false }
        let known = cookie?.end(oppositeOf: peer)
        if let uri,
            let address = settings.topology.address(
                named: uri, from: peer, onward.trunk, preferring: known?.address, at: arrival.now)
        {
            let end = DialogEnd(address: address, transport: transport)
            if let named = holder(of: end, cookie, orFormerAt: former, otherSideOf: peer) {
                go(to: end, of: named, cookie, of: arrival, from: peer, into: &onward)
                return true
            }
        }
        guard let known, let named = holder(of: known, cookie, orFormerAt: former, otherSideOf: peer) else {
            return false
        }
        go(to: known, of: named, cookie, of: arrival, from: peer, into: &onward)
        return true
    }

    /// The peer on the other side with an address; of trunks that share it, the trunk of the dialog.
    private func holder(
        of end: DialogEnd, _ cookie: RouteCookie?, orFormerAt now: Moment?, otherSideOf peer: GatewayTopology.Peer
    ) -> GatewayTopology.Peer? {
        let topology = settings.topology
        if !peer.isTrunk, let cookie, let now, let trunk = topology.trunk(mark: cookie.dialog.trunk, at: now),
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
        to end: DialogEnd, of named: GatewayTopology.Peer, _ cookie: RouteCookie?, of arrival: Arrival,
        from peer: GatewayTopology.Peer, into onward: inout OnwardRequest
    ) {
        if case .trunk(let trunk) = named { onward.trunk = trunk }
        let known = cookie?.end(oppositeOf: peer)
        let isInDialog = arrival.message.isInDialog
        if isInDialog, let cookie, cookie.connection != 0, cookie.dialog.isInbound != peer.isTrunk,
            end.address.hasSameHost(as: cookie.origin.address)
        {
            // The connection is that of the dialog's trunk, even if another trunk has the address as well.
            let own = peer.isTrunk ? nil : settings.topology.trunk(mark: cookie.dialog.trunk, at: arrival.now)
            if let own { onward.trunk = own }
            return goBack(to: end, cookie, of: own.map { .trunk($0) } ?? named, at: arrival.now, into: &onward)
        }
        let topology = settings.topology
        let socket = topology.socket(
            toReach: end.address, among: named.targets, by: end.transport, ofDialog: peer.pbxSocket,
            otherwise: named.socket)
        onward.hop = NextHop(
            address: end.address, socket: socket, isReliable: topology.sockets[socket].transport.isReliable)
        if isInDialog, onward.hop?.isReliable == true {
            let near = known?.address ?? end.address
            onward.useFallback(named.targets.order(near: near, orOthers: named.isTrunk, at: arrival.now))
        }
    }

    /// Sends a request of a dialog back by the connection by which the dialog's INVITE came.
    ///
    /// Many carriers connect from an ephemeral port, name that port in Contact, and accept no connection themselves. Where
    /// the connection is closed, the request goes to a target of the same transport. Where it cannot be delivered, the
    /// other targets follow.
    private func goBack(
        to end: DialogEnd, _ cookie: RouteCookie, of named: GatewayTopology.Peer, at now: Moment,
        into onward: inout OnwardRequest
    ) {
        let (sockets, origin) = (settings.topology.sockets, cookie.origin)
        let targets = named.targets.order(near: origin.address, orOthers: named.isTrunk, at: now)
        func fits(_ socket: LocalSocket) -> Bool {
            socket.transport == origin.transport && socket.address.isIPv6 == origin.address.isIPv6
        }
        let likely = targets.first { fits(sockets[$0.socket]) && $0.address == end.address }
        let target = likely ?? targets.first { fits(sockets[$0.socket]) }
        guard let socket = target?.socket ?? sockets.first(where: fits)?.position else { return }
        onward.useFallback(targets)
        onward.hop = NextHop(
            address: target?.address ?? origin.address, socket: socket, isReliable: true,
            connection: cookie.connection)
    }
}

extension TrunkPeer {
    /// Whether its requests may go there: to one of its targets or sources.
    func reaches(_ end: DialogEnd) -> Bool {
        targets.hasTarget(at: end.address, anyPort: false)
            || sources.contains { $0.contains(end.address, anyPort: end.transport.isReliable) }
    }

    /// Whether only its certificate identifies it, in both directions.
    var isKnownByCertificateAlone: Bool { sources.isEmpty && !certificateNames.isEmpty }
}

extension GatewayTopology {
    /// The address of a target on the other side that is configured by the URI's host name.
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
    /// The transport of its resource: TLS for sips, else its transport parameter, else UDP (RFC 3263 §4.1).
    var transport: SIPTransportKind {
        scheme == .sips ? .tls : parameter("transport").flatMap { SIPTransportKind($0) } ?? .udp
    }
}
