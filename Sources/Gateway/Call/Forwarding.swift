// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

// Sending requests on: calls from the PBX, requests inside dialogs, and what goes without a transaction (RFC 3261 §16.6).

extension SIPGateway {
    /// A call from the PBX: passed to its trunk as it came, and watched for returned calls.
    func placeOutboundCall(_ arrival: Arrival, _ branch: Branch, from pbx: PBXPeer) {
        let invite = arrival.message
        var splices = Splices()
        let routes = RouteSet(of: invite, sockets: settings.topology.sockets, secret: settings.secret, into: &splices)
        guard let trunk = settings.topology.trunk(for: routes.nextHop) else {
            return answer(arrival, Refusal(503, "Service Unavailable"))
        }
        let note = DialogNote(trunk: trunk.position, isInbound: false, isBranded: false)
        addHop(arrival, branch, note: note, leavingBy: trunk.socket, into: &splices)
        let call = reporter.identifier(of: invite, direction: .outbound)
        let transaction = ProxyTransaction(
            branch: branch, request: invite, source: arrival.source, sourceSocket: arrival.socket, note: note,
            call: (call.high, call.low), originalFrom: [])
        transactions.open(transaction, at: arrival.now)
        reporter.outboundInvite(call, invite, trunk, at: arrival.now)
        counters.add(.outboundCalls)
        transactions.forward(
            transaction, as: splices.applied(to: invite.bytes), to: trunk.nextHop, from: trunk.socket, at: arrival.now)
    }

    /// Any other request: inside a dialog, or outside one and no call.
    func relay(_ arrival: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, branch, from: peer)
        let transaction = ProxyTransaction(
            branch: branch, request: arrival.message, source: arrival.source, sourceSocket: arrival.socket,
            note: onward.note, call: (0, 0), originalFrom: originalFrom(of: arrival.message, if: onward.isRenamed))
        transactions.open(transaction, at: arrival.now)
        if arrival.message.method == .bye {
            reporter.bye(arrival.message, note: onward.sealedNote, fromTrunk: onward.isFromTrunk, at: arrival.now)
        }
        counters.add(.requestsForwarded)
        transactions.forward(
            transaction, as: onward.bytes, to: onward.destination, from: onward.socket, at: arrival.now)
    }

    /// Sends a request on without remembering it: ACK of a 2xx, and CANCEL of a forgotten INVITE (RFC 3261 §16.11).
    func forwardStatelessly(_ arrival: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, branch, from: peer)
        counters.add(.forwardedStatelessly)
        transactions.outgoing.append(
            OutgoingDatagram(bytes: onward.bytes, destination: onward.destination, socket: onward.socket))
    }

    /// The edits of a request that carries no brand decision of its own, and where it goes.
    private func prepare(_ arrival: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer) -> OnwardRequest {
        let request = arrival.message
        var splices = Splices()
        let routes = RouteSet(of: request, sockets: settings.topology.sockets, secret: settings.secret, into: &splices)
        let hop = nextHop(of: request, routes, from: peer)
        let formsDialog = request.method == .other && !request.isInDialog
        addHop(arrival, branch, note: formsDialog ? hop.note : nil, leavingBy: hop.socket, into: &splices)
        var isRenamed = false
        if case .trunk(let trunk) = peer {
            isRenamed = rename(request, trunk, routes.note, into: &splices)
            HeaderHygiene.clean(request, from: trunk, isBranded: false, into: &splices)
        }
        return OnwardRequest(
            bytes: splices.applied(to: request.bytes), destination: hop.destination, socket: hop.socket, note: hop.note,
            sealedNote: routes.note, isRenamed: isRenamed, isFromTrunk: peer.isTrunk)
    }

    /// Writes the same name into later requests of a branded dialog as into its INVITE, by the same rules (DESIGN §3).
    private func rename(
        _ request: SIPMessage, _ trunk: TrunkPeer, _ note: DialogNote?, into splices: inout Splices
    ) -> Bool {
        guard let note, note.isBranded, note.isInbound, settings.brands else { return false }
        let index = branding.load().index
        guard let number = CallerIdentity(of: request, trunk: trunk).number, let entry = index.entry(for: number) else {
            return false
        }
        Decoration.writeNames(of: entry, in: index, into: request, from: trunk, splices: &splices)
        return true
    }

    /// Via, received and rport, Max-Forwards, and Record-Route when a note is given.
    ///
    /// Where the two sides use two sockets, Record-Route is written twice, the outgoing side on top (RFC 5658 §3).
    func addHop(
        _ arrival: Arrival, _ branch: Branch, note: DialogNote?, leavingBy socket: Int, into splices: inout Splices
    ) {
        // The gateway's own entries stand above all others, wherever a sender put Via and Record-Route (§16.6 steps 4, 8).
        guard let via = ViaValue.top(of: arrival.message), let first = arrival.message.headers.first else { return }
        let sockets = settings.topology.sockets
        let callID = arrival.message.first(.callID).map { arrival.message[$0.value] } ?? []
        RequestForwarding.addVia(sockets[socket], branch: branch, before: first, into: &splices)
        if let note {
            for side in socket == arrival.socket ? [socket] : [socket, arrival.socket] {
                let entry = RecordRoute(socket: sockets[side], note: note, callID: callID, secret: settings.secret)
                RequestForwarding.addRecordRoute(entry, before: first, into: &splices)
            }
        }
        RequestForwarding.noteSource(arrival.source, in: arrival.message, via: via.value, into: &splices)
        RequestForwarding.countHop(arrival.message, into: &splices)
    }
}

// MARK: - Where requests go

extension SIPGateway {
    /// The next hop of a request: where its route leads, if that is a known peer on the other side, else the peer
    /// configured there.
    ///
    /// Nothing is sent to addresses nobody configured (no open relay).
    private func nextHop(
        of request: SIPMessage, _ routes: RouteSet, from peer: GatewayTopology.Peer
    ) -> (destination: PeerAddress, socket: Int, note: DialogNote) {
        let topology = settings.topology
        switch peer {
        case .trunk(let trunk):
            let pbx = topology.pbxs[trunk.pbx]
            let note = routes.note ?? DialogNote(trunk: trunk.position, isInbound: true, isBranded: false)
            if let address = literal(routes.nextHop), case .pbx(let named) = topology.peer(at: address) {
                return (address, named.socket, note)
            }
            return (pbx.address, pbx.socket, note)
        case .pbx:
            let noted = routes.note.flatMap {
                topology.trunks.indices.contains($0.trunk) ? topology.trunks[$0.trunk] : nil
            }
            let trunk = noted ?? topology.trunk(for: routes.nextHop) ?? topology.trunks[0]
            let note = routes.note ?? DialogNote(trunk: trunk.position, isInbound: false, isBranded: false)
            if let address = literal(routes.nextHop), case .trunk(let named) = topology.peer(at: address) {
                return (address, named.socket, note)
            }
            return (trunk.nextHop, trunk.socket, note)
        }
    }

    private func literal(_ uri: SIPURI?) -> PeerAddress? {
        guard let uri else { return nil }
        return PeerAddress(host: uri.host[...], port: uri.port ?? 5060)
    }
}

extension GatewayTopology.Peer {
    var isTrunk: Bool {
        if case .trunk = self { true } else { false }
    }
}

/// A request as it goes on.
private struct OnwardRequest {
    let bytes: [UInt8]
    let destination: PeerAddress
    let socket: Int
    let note: DialogNote
    /// The note that came back in the request's Route; nil when none did.
    let sealedNote: DialogNote?
    let isRenamed: Bool
    let isFromTrunk: Bool
}
