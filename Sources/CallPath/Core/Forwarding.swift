// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

// Sending requests on: calls from the PBX, requests inside dialogs, and what goes without a transaction (RFC 3261 §16.6).

extension SIPGateway {
    /// A call from the PBX: passed to its trunk as it came, and watched for returned calls.
    func placeOutboundCall(_ arrival: Arrival, _ marks: HopMarks, from pbx: PBXPeer) {
        let invite = arrival.message
        var splices = Splices()
        let routes = RouteSet(
            of: invite, sockets: settings.topology.sockets, secret: settings.secret, isFromTrunk: false, into: &splices)
        guard let trunk = settings.topology.trunk(for: routes.nextHop, from: arrival.flow) else {
            return reject(arrival, Refusal(503, "Service Unavailable"), for: .noTarget)
        }
        let call = reporter.identifier(of: invite, direction: .outbound)
        let isEmergency = CallFacts.isProtected(invite, isTrusted: true, trunk.emergencyNumbers)
        let parties = CallParties(trunk: trunk.mark, pbx: pbx.mark)
        guard admit(call, on: nil, parties, isProtected: isEmergency, arrival) else { return }
        var targets = order(trunk.targets, for: call, at: arrival.now, isEmergency: isEmergency)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0) }
        let note = DialogNote(trunk: Int(trunk.mark), isInbound: false, isBranded: false)
        addHop(arrival, marks, note: note, to: hop, into: &splices)
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
        transaction.carriesPath = onward.carriesPath
        transactions.open(transaction, at: arrival.now)
        noteBye(arrival, onward, from: peer)
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
        noteBye(arrival, onward, from: peer)
        counters.add(.forwardedStatelessly)
        transactions.outgoing.append(
            OutgoingMessage(bytes: onward.bytes, destination: hop.address, socket: hop.socket))
    }

    /// Ends the call in the accounts, where the request is its BYE.
    private func noteBye(_ arrival: Arrival, _ onward: OnwardRequest, from peer: GatewayTopology.Peer) {
        guard arrival.message.method == .bye, !onward.hasForeignNote else { return }
        reporter.bye(arrival.message, note: onward.sealedNote, from: peer, at: arrival.now)
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
                of: request, sockets: settings.topology.sockets, secret: settings.secret, isFromTrunk: peer.isTrunk,
                into: &splices)
            var onward = nextHop(of: arrival, routes, from: peer)
            let formsDialog = request.method == .other && !request.isInDialog
            if let hop = onward.hop {
                addHop(arrival, marks, note: formsDialog ? onward.note : nil, to: hop, into: &splices)
                onward.carriesPath = addPath(arrival, to: hop, of: onward, into: &splices)
            }
            if let trunk = onward.trunk {
                // Who helps in an emergency must know who calls, in later requests as well.
                if !EmergencyCall.holds(request, trunk.emergencyNumbers) {
                    HeaderHygiene.withhold(request, from: trunk, into: &splices)
                }
            } else if case .trunk(let trunk) = peer {
                let isRenamed = rename(request, trunk, onward.sealedNote, into: &splices)
                let isCleaned = HeaderHygiene.clean(
                    request, from: trunk, trunkHeaders: settings.topology.trunkHeaders, isBranded: false, into: &splices
                )
                onward.changesFrom = isRenamed || isCleaned
            }
            onward.bytes = splices.applied(to: request.bytes)
            return onward
        }
    }

    /// Writes the same name into later requests of a branded dialog as into its INVITE.
    ///
    /// Only for the caller the dialog began with: a request that asserts another one, after a transfer, or whose check
    /// failed, keeps its carrier's name. Carriers assert the caller in the INVITE alone, so that From, which stays what it
    /// was, decides nothing then.
    private func rename(
        _ request: SIPMessage, _ trunk: TrunkPeer, _ note: DialogNote?, into splices: inout Splices
    ) -> Bool {
        guard let note, note.isNamed, note.isInbound, settings.brands else { return false }
        let identity = CallerIdentity(of: request, trunk: trunk)
        guard trunk.isTrusted, !identity.isWithheld, identity.verification != .failed,
            let caller = E164Number(digits: note.caller),
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
    ///
    /// - Parameter hop: where the request goes; nil where no target is up, and then it goes nowhere.
    func addHop(
        _ arrival: Arrival, _ marks: HopMarks, note: DialogNote?, to hop: NextHop?, into splices: inout Splices
    ) {
        guard let hop else { return }
        // The gateway's own entries stand above all others, wherever a sender put Via and Record-Route (§16.6 steps 4, 8).
        guard let via = arrival.message.topVia, let first = arrival.message.headers.first else { return }
        let sockets = settings.topology.sockets
        let (socket, sourceSocket) = (sockets[hop.socket], sockets[arrival.flow.socket])
        RequestForwarding.addVia(socket, marks, before: first, into: &splices)
        if let note {
            let origin = DialogEnd(sourceOf: arrival.message, by: arrival.flow, transport: sourceSocket.transport)
            let target = DialogEnd(address: hop.address, transport: socket.transport)
            let cookie = SealedCookie(
                DialogCookie(note: note, target: target, origin: origin), of: arrival.message, secret: settings.secret)
            RequestForwarding.addRecordRoute(RecordRoute(socket: socket, cookie: cookie), before: first, into: &splices)
            if hop.socket != arrival.flow.socket {
                let side = RecordRoute(socket: sourceSocket, cookie: cookie)
                RequestForwarding.addRecordRoute(side, before: first, into: &splices)
            }
        }
        RequestForwarding.noteSource(arrival.flow.source, in: arrival.message, via: via.value, into: &splices)
        RequestForwarding.countHop(arrival.message, into: &splices)
        addLength(to: arrival.message, into: &splices)
    }
}
