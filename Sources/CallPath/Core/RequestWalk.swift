// SPDX-License-Identifier: Apache-2.0

import SIPCore

// What happens to a request of a configured peer, in the order of RFC 3261 §16.3.

extension SIPGateway {
    /// Validates, absorbs what is known, answers what is meant for the gateway, sends the rest on its way.
    ///
    /// `branch` is nil only where the topmost Via cannot be read, which validation refuses.
    func receiveRequest(_ arrival: Arrival, _ branch: Branch?, from peer: GatewayTopology.Peer) {
        let request = arrival.message
        if let refusal = RequestValidity.formRefusal(of: request) { return refuse(arrival, refusal) }
        guard let branch else { return }
        if let known = transactions[branch] { return meetAgain(known, arrival, from: peer) }
        if request.method == .ack, OwnAnswer.isAcknowledged(by: request, secret: settings.secret) { return }
        if request.method == .options, isForGateway(request) { return answerOptions(arrival, from: peer) }
        if let refusal = RequestValidity.forwardingRefusal(of: request) { return refuse(arrival, refusal) }
        let marks = HopMarks(branch: branch, of: request, secret: settings.secret)
        switch request.method {
        // RFC 3261 §16.10 and §16.11: what memory does not know goes on without a transaction.
        case .ack: forwardStatelessly(arrival, marks, from: peer)
        case .cancel:
            reporter.cancelledWithoutMemory(request, from: peer, at: arrival.now)
            forwardStatelessly(arrival, marks, from: peer)
        default: open(arrival, marks, from: peer)
        }
    }

    /// A request of a transaction in memory: CANCEL, ACK or a retransmission.
    private func meetAgain(_ transaction: ProxyTransaction, _ arrival: Arrival, from peer: GatewayTopology.Peer) {
        if arrival.message.method == .cancel {
            // RFC 3261 §9.2: the CANCEL has its own answer, whatever becomes of what it cancels; only an INVITE can be.
            answer(arrival, status: 200, phrase: "OK")
            if transaction.isPending {
                reporter.cancelled(transaction, by: arrival.message, at: arrival.now)
                transactions.cancel(transaction, with: arrival.message, at: arrival.now)
            }
            return
        }
        counters.add(.retransmissionsAbsorbed)
        if transactions.absorb(arrival.message, in: transaction, at: arrival.now) {
            if let refusal = RequestValidity.forwardingRefusal(of: arrival.message) { return refuse(arrival, refusal) }
            let marks = HopMarks(branch: transaction.branch, of: arrival.message, secret: settings.secret)
            forwardStatelessly(arrival, marks, from: peer)
        }
    }

    /// Starts a transaction and sends the request on by the way its kind asks for.
    private func open(_ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer) {
        let isInitialInvite = arrival.message.method == .invite && !arrival.message.isInDialog
        if marks.loop.stands(in: arrival.message, sockets: settings.topology.sockets) {
            counters.add(.loopsFound)
            return reject(arrival, Refusal(482, "Loop Detected"), for: .loop)
        }
        guard !transactions.isFull() || hasOwnRoom(arrival.message, from: peer) else {
            counters.add(.overloadRefused)
            return reject(arrival, Refusal(503, "Service Unavailable", .retryAfter(seconds: 5)), for: .transactions)
        }
        // No request of a call in progress, and no emergency call, is refused for want of memory (RFC 3261 §16.11).
        guard !transactions.isFull(forDialogs: true) else { return forwardStatelessly(arrival, marks, from: peer) }
        switch peer {
        case .trunk(let trunk) where isInitialInvite: placeInboundCall(arrival, marks, from: trunk)
        case .pbx(let pbx) where isInitialInvite: placeOutboundCall(arrival, marks, from: pbx)
        default: relay(arrival, marks, from: peer)
        }
    }

    /// Requests that have as much memory again as new calls have.
    private func hasOwnRoom(_ request: SIPMessage, from peer: GatewayTopology.Peer) -> Bool {
        request.isInDialog || request.method == .invite && peer.protects(request, in: settings.topology)
    }

    /// OPTIONS to the gateway itself, a health check: no user in the Request-URI (RFC 3261 §11.2).
    private func isForGateway(_ request: SIPMessage) -> Bool {
        guard !request.isInDialog, let uri = SIPURI(request.bytes, request.requestURI) else { return false }
        return uri.scheme != .tel && uri.user.isEmpty
    }

    /// Answers a health check; a trunk's with 503 while none of its PBX's targets is there, so that the carrier takes
    /// another way.
    ///
    /// Without Retry-After: the next OPTIONS decides.
    private func answerOptions(_ arrival: Arrival, from peer: GatewayTopology.Peer) {
        counters.add(.optionsAnswered)
        if case .trunk(let trunk) = peer, settings.reportsPBX,
            !trunk.pbx.targets.isFit(at: arrival.now.milliseconds)
        {
            return answer(arrival, Refusal(503, "Service Unavailable"))
        }
        guard !shared.isDraining else {
            return answer(arrival, Refusal(503, "Service Unavailable", .retryAfter(seconds: 10)))
        }
        answer(arrival, status: 200, phrase: "OK", field: .allow)
    }
}

// MARK: - Answers of the gateway itself

extension SIPGateway {
    /// Sends a refusal without keeping any state of it (RFC 3261 §16.11).
    func answer(_ arrival: Arrival, _ refusal: Refusal) {
        transactions.outgoing.append(OwnAnswer.message(to: arrival, refusal, secret: settings.secret))
    }

    func answer(_ arrival: Arrival, status: Int, phrase: StaticString, field: AnswerField? = nil) {
        transactions.outgoing.append(
            OwnAnswer.message(to: arrival, status: status, phrase: phrase, field: field, secret: settings.secret))
    }
}
