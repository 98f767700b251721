// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

// Sending requests on: calls from the PBX, requests inside dialogs, and what goes without a transaction (RFC 3261 §16.6).

extension SIPGateway {
    /// A call from the PBX: passed to its trunk as it came, and watched for returned calls.
    func placeOutboundCall(_ arrival: Arrival, _ marks: HopMarks, from pbx: PBXPeer) {
        let invite = arrival.message
        var splices = Splices()
        let routes = RouteSet(of: invite, sockets: settings.topology.sockets, secret: settings.secret, into: &splices)
        guard let trunk = settings.topology.trunk(for: routes.nextHop, from: arrival.flow) else {
            return reject(arrival, Refusal(503, "Service Unavailable"), for: .noTarget)
        }
        let call = reporter.identifier(of: invite, direction: .outbound)
        let isEmergency = CallFacts.isProtected(invite, isTrusted: true, trunk.emergencyNumbers)
        guard admit(call, on: nil, isProtected: isEmergency, arrival) else { return }
        var targets = order(trunk.targets, for: call, at: arrival.now, isEmergency: isEmergency)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0) }
        let note = DialogNote(trunk: Int(trunk.mark), isInbound: false, isBranded: false)
        addHop(arrival, marks, note: note, leavingBy: hop?.socket ?? arrival.flow.socket, into: &splices)
        // Who helps in an emergency must know who calls.
        if !isEmergency { HeaderHygiene.withhold(invite, from: trunk, into: &splices) }
        let transaction = newTransaction(arrival, marks, note, call, originalFrom: [], targets)
        transactions.open(transaction, at: arrival.now)
        reporter.outboundInvite(call, invite, trunk, at: arrival.now)
        counters.add(.outboundCalls)
        guard let target, let hop else { return failWithoutTarget(transaction, at: arrival.now) }
        transaction.standing = target.standing
        transactions.forward(
            transaction, as: splices.applied(to: invite.bytes), to: hop, patience: patience(targets, isCall: true),
            at: arrival.now)
    }

    /// Any other request: inside a dialog, or outside one and no call.
    func relay(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, marks, from: peer)
        let transaction = newTransaction(
            arrival, marks, onward.note, nil, originalFrom: originalFrom(of: arrival.message, if: onward.changesFrom),
            onward.targets)
        transactions.open(transaction, at: arrival.now)
        noteBye(arrival, onward)
        counters.add(.requestsForwarded)
        guard let hop = onward.hop else { return refuseWithoutTarget(transaction, at: arrival.now) }
        transaction.standing = onward.standing
        transactions.forward(
            transaction, as: onward.bytes, to: hop, patience: patience(onward.targets), at: arrival.now)
    }

    /// Sends a request on without remembering it: ACK of a 2xx, CANCEL of a forgotten INVITE, and what there is no memory
    /// for (RFC 3261 §16.11).
    func forwardStatelessly(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, marks, from: peer)
        guard let hop = onward.hop else { return }
        noteBye(arrival, onward)
        counters.add(.forwardedStatelessly)
        transactions.outgoing.append(
            OutgoingMessage(bytes: onward.bytes, destination: hop.address, socket: hop.socket))
    }

    /// Ends the call in the accounts, where the request is its BYE.
    private func noteBye(_ arrival: Arrival, _ onward: OnwardRequest) {
        guard arrival.message.method == .bye else { return }
        let calls = reporter.bye(
            arrival.message, note: onward.sealedNote, fromTrunk: onward.isFromTrunk, at: arrival.now)
        shared.calls.end(either: calls.either, or: calls.or)
    }

    /// A transaction of a request that is to be forwarded.
    func newTransaction(
        _ arrival: Arrival, _ marks: HopMarks, _ note: DialogNote, _ call: CallIdentifier?, originalFrom: [UInt8],
        _ targets: TargetOrder
    ) -> ProxyTransaction {
        ProxyTransaction(
            branch: marks.branch, request: arrival.message, flow: arrival.flow,
            transport: settings.topology.sockets[arrival.flow.socket].transport, note: note,
            call: call.map { ($0.high, $0.low) } ?? (0, 0), originalFrom: originalFrom, targets: targets)
    }

    /// Ends a call for which no target is up, in the accounts as well.
    func failWithoutTarget(_ transaction: ProxyTransaction, at now: Moment) {
        reporter.unreachable(transaction, at: now)
        refuseWithoutTarget(transaction, at: now)
    }

    /// The edits of a request that carries no brand decision of its own, and where it goes.
    private func prepare(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) -> OnwardRequest {
        let request = arrival.message
        return withSplices { splices in
            let routes = RouteSet(
                of: request, sockets: settings.topology.sockets, secret: settings.secret, into: &splices)
            var onward = nextHop(of: arrival, routes, from: peer)
            let formsDialog = request.method == .other && !request.isInDialog
            if let hop = onward.hop {
                addHop(arrival, marks, note: formsDialog ? onward.note : nil, leavingBy: hop.socket, into: &splices)
            }
            if let trunk = onward.trunk {
                // Who helps in an emergency must know who calls, in later requests as well.
                if !EmergencyCall.holds(request, trunk.emergencyNumbers) {
                    HeaderHygiene.withhold(request, from: trunk, into: &splices)
                }
            } else if case .trunk(let trunk) = peer {
                let isRenamed = rename(request, trunk, routes.note, into: &splices)
                let isCleaned = HeaderHygiene.clean(
                    request, from: trunk, trunkHeaders: settings.topology.trunkHeaders, isBranded: false, into: &splices
                )
                onward.changesFrom = isRenamed || isCleaned
            }
            onward.bytes = splices.applied(to: request.bytes)
            return onward
        }
    }

    /// Writes the same name into later requests of a branded dialog as into its INVITE (DESIGN §3).
    ///
    /// Only for the caller the dialog began with: a request that asserts another one, after a transfer, or whose check
    /// failed, keeps its carrier's name. Carriers assert the caller in the INVITE alone, so that From, which stays what it
    /// was, decides nothing then.
    private func rename(
        _ request: SIPMessage, _ trunk: TrunkPeer, _ note: DialogNote?, into splices: inout Splices
    ) -> Bool {
        guard let note, note.isNamed, note.isInbound, settings.brands else { return false }
        let identity = CallerIdentity(of: request, trunk: trunk)
        // A dialog that began before numbers were noted shows its caller by each request alone.
        guard !identity.isWithheld, identity.verification != .failed,
            let caller = note.caller == 0 ? identity.number : E164Number(digits: note.caller),
            identity.number == caller || note.isAsserted && !identity.isAsserted
        else { return false }
        let index = branding.load().index
        guard let entry = index.entry(for: caller) else { return false }
        Decoration.writeNames(of: entry, in: index, into: request, from: trunk, splices: &splices)
        return true
    }

    /// Via, received and rport, Max-Forwards, and Record-Route when a note is given.
    ///
    /// Where the two sides use two sockets, Record-Route is written twice, the outgoing side on top (RFC 5658 §3).
    func addHop(
        _ arrival: Arrival, _ marks: HopMarks, note: DialogNote?, leavingBy socket: Int, into splices: inout Splices
    ) {
        // The gateway's own entries stand above all others, wherever a sender put Via and Record-Route (§16.6 steps 4, 8).
        guard let via = arrival.message.topVia, let first = arrival.message.headers.first else { return }
        let sockets = settings.topology.sockets
        let callID = arrival.message.first(.callID).map { arrival.message[$0.value] } ?? []
        RequestForwarding.addVia(sockets[socket], marks, before: first, into: &splices)
        if let note {
            for side in socket == arrival.flow.socket ? [socket] : [socket, arrival.flow.socket] {
                let entry = RecordRoute(socket: sockets[side], note: note, callID: callID, secret: settings.secret)
                RequestForwarding.addRecordRoute(entry, before: first, into: &splices)
            }
        }
        RequestForwarding.noteSource(arrival.flow.source, in: arrival.message, via: via.value, into: &splices)
        RequestForwarding.countHop(arrival.message, into: &splices)
        addLength(to: arrival.message, into: &splices)
    }
}

// MARK: - Where requests go

extension SIPGateway {
    /// The next hop of a request: where its route leads, if that is a known peer on the other side, else a target
    /// configured there.
    ///
    /// Nothing is sent to addresses nobody configured (no open relay).
    private func nextHop(
        of arrival: Arrival, _ routes: RouteSet, from peer: GatewayTopology.Peer
    ) -> OnwardRequest {
        let topology = settings.topology
        var onward: OnwardRequest
        let group: TargetGroup?
        let wanted: Int?
        switch peer {
        case .trunk(let trunk):
            let note = routes.note ?? DialogNote(trunk: Int(trunk.mark), isInbound: true, isBranded: false)
            onward = OnwardRequest(note: note, sealedNote: routes.note, isFromTrunk: true)
            group = trunk.pbx.targets
            wanted = trunk.pbxSocket
        case .pbx:
            let noted = routes.note.flatMap { topology.trunk(mark: $0.trunk, at: arrival.now) }
            let trunk = noted ?? topology.trunk(for: routes.nextHop, from: arrival.flow)
            let note = routes.note ?? DialogNote(trunk: Int(trunk?.mark ?? 0), isInbound: false, isBranded: false)
            onward = OnwardRequest(note: note, sealedNote: routes.note, isFromTrunk: false)
            onward.trunk = trunk
            group = trunk?.targets
            wanted = nil
        }
        if let uri = routes.nextHop,
            let address = PeerAddress(host: uri.host, port: uri.port ?? uri.transport.defaultPort),
            let named = topology.peer(at: address, orFormerAt: routes.note == nil ? nil : arrival.now),
            named.isTrunk != peer.isTrunk
        {
            if case .trunk(let trunk) = named { onward.trunk = trunk }
            let socket = topology.socket(
                toReach: address, among: named.targets, by: uri.transport, ofDialog: wanted, otherwise: named.socket)
            onward.hop = NextHop(
                address: address, socket: socket, isReliable: topology.sockets[socket].transport.isReliable)
            return onward
        }
        guard let group else { return onward }
        let call = reporter.identifier(of: arrival.message, direction: onward.isFromTrunk ? .inbound : .outbound)
        var targets = order(group, for: call, at: arrival.now)
        // Inside a dialog the one target that has it is meant; without a way to know it, the first is asked all the same.
        guard let target = targets.next() ?? (arrival.message.isInDialog ? group.targets.first : nil) else {
            return onward
        }
        onward.hop = hop(to: target, by: wanted)
        onward.standing = target.standing
        if !arrival.message.isInDialog { onward.targets = targets }
        return onward
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
}

/// A request as it goes on.
private struct OnwardRequest {
    var bytes: [UInt8] = []
    /// Nil when no target is up.
    var hop: NextHop?
    var standing: TargetStanding?
    /// What may be tried after it.
    var targets = TargetOrder()
    let note: DialogNote
    /// The note that came back in the request's Route; nil when none did.
    let sealedNote: DialogNote?
    /// From is another one than its sender's.
    var changesFrom = false
    let isFromTrunk: Bool
    /// The trunk it goes to; nil for a trunk's own request.
    var trunk: TrunkPeer?

    init(note: DialogNote, sealedNote: DialogNote?, isFromTrunk: Bool) {
        self.note = note
        self.sealedNote = sealedNote
        self.isFromTrunk = isFromTrunk
    }
}
