// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

// Forwarding of calls from the PBX, of requests inside dialogs, and without a transaction (RFC 3261 §16.6, §16.11).

extension ProxyCore {
    /// Forwards a call from the PBX to its trunk without a brand, and reports it, so that returned calls are recognised.
    func placeOutboundCall(_ arrival: Arrival, _ marks: HopMarks, from pbx: PBXPeer) {
        let invite = arrival.message
        var splices = Splices()
        let routes = RouteSet(of: invite, from: .pbx(pbx), settings, into: &splices)
        let usual = settings.topology.trunk(for: routes.nextHop, from: arrival.flow)
        let tested = settings.topology.test?.trunk(calledBackBy: invite, from: pbx, settings.topology.routes)
        guard let trunk = tested ?? usual else {
            return reject(arrival, FailureResponse(503, "Service Unavailable"), for: .noTarget)
        }
        let call = reporter.identifier(of: invite, direction: .outbound)
        let isEmergency = CallFacts(of: invite, isTrusted: true, trunk.emergencyNumbers).isProtected
        let parties = CallParties(trunk: trunk.mark, pbx: pbx.key)
        guard admit(call, on: nil, nil, parties, isProtected: isEmergency, arrival) else { return }
        var targets = order(trunk.targets, for: call, at: arrival.now, isEmergency: isEmergency)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0) }
        let dialog = DialogFacts(trunk: trunk.mark, isInbound: false, isBranded: false)
        addHop(arrival, marks, dialog: dialog, to: hop, into: &splices)
        // An emergency service needs the caller's number.
        if !isEmergency { HeaderHygiene.withhold(invite, from: trunk, into: &splices) }
        let transaction = newTransaction(arrival, marks, dialog, call, originalFrom: [], targets)
        transactions.open(transaction, at: arrival.now)
        if tested == nil {
            reporter.outboundInvite(call, invite, from: pbx, trunk, settings.topology.routes, at: arrival.now)
            counters.add(.outboundCalls)
        }
        guard let target, let hop else { return failWithoutTarget(transaction, at: arrival.now) }
        use(target, for: transaction)
        transactions.forward(
            transaction, as: splices.applied(to: invite.bytes), to: hop, patience: patience(targets, isCall: true),
            at: arrival.now)
    }

    /// Forwards any other request, inside a dialog or outside one.
    func relay(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, marks, from: peer)
        // The test is over, and no carrier has anything of its call.
        if onward.hop == nil, onward.dialog.isTest {
            return reject(arrival, FailureResponse(481, "Call/Transaction Does Not Exist"), for: .noTarget)
        }
        let transaction = newTransaction(
            arrival, marks, onward.dialog, nil, carriesPath: onward.carriesPath,
            originalFrom: originalFrom(of: arrival.message, if: onward.changesFrom), onward.targets)
        transaction.originalTo = onward.originalTo
        transactions.open(transaction, at: arrival.now)
        recordBye(arrival, onward, from: peer)
        counters.add(.requestsForwarded)
        guard let hop = onward.hop else { return refuseWithoutTarget(transaction, at: arrival.now) }
        transaction.targetState = onward.targetState
        transaction.hasFallback = onward.hasFallback
        transactions.forward(
            transaction, as: onward.bytes, to: hop,
            patience: onward.hasFallback ? nil : patience(onward.targets), at: arrival.now)
    }

    /// Forwards a request without a transaction: the ACK of a 2xx, the CANCEL of a forgotten INVITE, and any request when
    /// memory is full (RFC 3261 §16.11).
    func forwardStatelessly(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) {
        let onward = prepare(arrival, marks, from: peer)
        guard let hop = onward.hop else { return rejectStatelessly(arrival) }
        recordBye(arrival, onward, from: peer)
        counters.add(.forwardedStatelessly)
        if onward.group != nil { return cancelAttempts(onward, marks.branch, from: peer) }
        transactions.outgoing.append(
            OutgoingMessage(
                bytes: onward.bytes, destination: hop.address, socket: hop.socket, connection: hop.connection))
    }

    /// Rejects a request without a next hop; an ACK, which gets no response (RFC 3261 §17.1.1.3), leaves a record alone.
    private func rejectStatelessly(_ arrival: Arrival) {
        switch arrival.message.method {
        case .ack:
            shared.recordRejection(of: arrival.message, by: arrival.flow, 0, for: .noTarget, settings, at: arrival.now)
        case .cancel: reject(arrival, FailureResponse(481, "Call/Transaction Does Not Exist"), for: .noTarget)
        default: reject(arrival, FailureResponse(503, "Service Unavailable"), for: .noTarget)
        }
    }

    /// Reports the end of a call if the request is its BYE.
    private func recordBye(_ arrival: Arrival, _ onward: borrowing OnwardRequest, from peer: GatewayTopology.Peer) {
        guard arrival.message.method == .bye, !onward.hasForeignCookie else { return }
        reporter.bye(arrival.message, dialog: onward.sealedDialog, from: peer, at: arrival.now)
    }

    /// Makes the transaction of a request to forward.
    func newTransaction(
        _ arrival: Arrival, _ marks: HopMarks, _ dialog: DialogFacts, _ call: CallIdentifier?,
        carriesPath: Bool = false,
        originalFrom: [UInt8], _ targets: TargetOrder
    ) -> GatewayTransaction {
        GatewayTransaction(
            branch: marks.branch, request: arrival.message, flow: arrival.flow,
            transport: settings.topology.sockets[arrival.flow.socket].transport, payload: dialog.payload,
            ownerState: TransactionFacts(call: call, carriesPath: carriesPath), originalFrom: originalFrom,
            targets: targets)
    }

    /// Rejects a call for which no target is up, and reports it.
    func failWithoutTarget(_ transaction: GatewayTransaction, at now: Moment) {
        reporter.unreachable(transaction, at: now)
        refuseWithoutTarget(transaction, at: now)
    }

    /// The edits and the next hop of a request without a brand decision of its own.
    private func prepare(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) -> OnwardRequest {
        let request = arrival.message
        return withSplices { splices in
            let routes = RouteSet(of: request, from: peer, settings, into: &splices)
            var onward = nextHop(of: arrival, routes, from: peer)
            let formsDialog = request.method == .other && !request.isInDialog
            let isRenamed = rename(request, from: peer, onward.sealedDialog, into: &splices)
            if let hop = onward.hop {
                addHop(
                    arrival, marks, dialog: formsDialog ? onward.dialog : nil, isRenamed: isRenamed, to: hop,
                    into: &splices)
                onward.carriesPath = addPath(arrival, to: hop, of: onward, into: &splices)
            }
            if let trunk = onward.trunk {
                // The called side repeats the name that it was shown; the trunk gets its own text back.
                if onward.sealedDialog?.isNamed == true {
                    onward.originalTo = CarrierName.restore(in: request, into: &splices)
                }
                // An emergency service needs the caller's number in later requests as well.
                if !EmergencyCall.holds(request, trunk.emergencyNumbers) {
                    HeaderHygiene.withhold(request, from: trunk, into: &splices)
                }
            } else if case .trunk(let trunk) = peer {
                let isCleaned = HeaderHygiene.clean(
                    request, from: trunk, ownHeaders: settings.topology.ownHeaders, isBranded: false, into: &splices
                )
                onward.changesFrom = isRenamed || isCleaned
            }
            onward.bytes = splices.applied(to: request.bytes)
            return onward
        }
    }

    /// Writes the same name into later requests of a branded dialog as into its INVITE, if a phone shows their caller.
    ///
    /// Only for the caller that the dialog began with. After a transfer the request asserts another caller, and its
    /// carrier's name stays; so it does after a failed check. Many carriers assert the caller in the INVITE alone. Then the
    /// unchanged From does not decide.
    private func rename(
        _ request: SIPMessage, from peer: GatewayTopology.Peer, _ dialog: DialogFacts?, into splices: inout Splices
    ) -> Bool {
        guard let dialog, dialog.isNamed, dialog.isInbound, settings.brands, request.showsCaller,
            case .trunk(let trunk) = peer, trunk.isTrusted
        else { return false }
        let identity = CallerIdentity(of: request, trunk: trunk)
        guard !identity.isWithheld, identity.verification != .failed,
            let caller = E164Number(digits: dialog.caller),
            identity.number == caller || dialog.isAsserted && !identity.isAsserted
        else { return false }
        guard let index = brands(of: dialog)?.load().index else { return false }
        guard let entry = index.entry(for: caller) else { return false }
        let brand = ShownBrand(entry: entry, index: index)
        return Decoration.writeNames(of: brand, into: request, from: trunk, splices: &splices) != .none
    }

    /// The brands of a dialog's customer; nil for a customer that was removed, whose dialog keeps the carrier's name.
    func brands(of dialog: DialogFacts) -> CurrentBranding? {
        dialog.customer == 0 ? branding : settings.topology.routes.customer(mark: dialog.customer)?.branding
    }

    /// Via, received and rport, Max-Forwards, and Record-Route when the facts of its dialog are given.
    ///
    /// Where the two sides use two sockets, Record-Route is written twice, the outgoing side on top (RFC 5658 §3).
    ///
    /// - Parameters:
    ///   - isRenamed: whether the forwarded From gets another name; the Via of a cluster's node then carries the old one.
    ///   - hop: nil where no target is up; then nothing is added.
    func addHop(
        _ arrival: Arrival, _ marks: HopMarks, dialog: DialogFacts?, isRenamed: Bool = false, to hop: NextHop?,
        into splices: inout Splices
    ) {
        guard let hop else { return }
        // The gateway's own entries are the topmost, wherever a sender put Via and Record-Route (§16.6 steps 4, 8).
        guard let via = arrival.message.topVia, let first = arrival.message.headers.first else { return }
        let sockets = settings.topology.sockets
        let (socket, sourceSocket) = (sockets[hop.socket], sockets[arrival.flow.socket])
        let from = isRenamed && settings.isClustered ? arrival.message.first(.from)?.value : nil
        RequestForwarding.addVia(
            socket, marks, originalFrom: from.map { arrival.message[$0] } ?? [], before: first, into: &splices)
        if let dialog {
            let origin = DialogEnd(sourceOf: arrival.message, by: arrival.flow, transport: sourceSocket.transport)
            let target = DialogEnd(address: hop.address, transport: socket.transport)
            let cookie = SealedRouteCookie(
                RouteCookie(
                    payload: dialog.payload, target: target, origin: origin, connection: arrival.flow.connection),
                of: arrival.message, secret: settings.secret)
            let entry = RecordRoute(socket: socket, cookie: cookie, of: arrival.message, isRenamed: dialog.isNamed)
            RequestForwarding.addRecordRoute(entry, before: first, into: &splices)
            if hop.socket != arrival.flow.socket {
                let side = RecordRoute(socket: sourceSocket, cookie: cookie, of: arrival.message)
                RequestForwarding.addRecordRoute(side, before: first, into: &splices)
            }
        }
        RequestForwarding.markSource(arrival.flow.source, in: arrival.message, via: via.value, into: &splices)
        RequestForwarding.countHop(arrival.message, into: &splices)
        addLength(to: arrival.message, into: &splices)
    }
}

extension SIPMessage {
    /// Whether a phone shows the caller of this request: INVITE and UPDATE (RFC 4916 §4.3), and MESSAGE.
    ///
    /// All others keep the carrier's name: peers compare tag and URI of From, not the name (RFC 3261 §12.2.1.1, §19.3).
    fileprivate var showsCaller: Bool {
        guard case .request(let method, let token, _) = startLine else { return false }
        guard method == .other else { return method == .invite }
        return self[token].elementsEqual("UPDATE".utf8) || self[token].elementsEqual("MESSAGE".utf8)
    }
}
