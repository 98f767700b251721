// SPDX-License-Identifier: Apache-2.0

package import SIPCore

// What happens to a response of a configured peer (RFC 3261 §16.7).

extension SIPGateway: TransactionUser {
    /// Finds the transaction by the gateway's own Via; without one the response goes back statelessly.
    func receiveResponse(_ arrival: Arrival, from peer: GatewayTopology.Peer) {
        let response = arrival.message
        guard let top = ViaValue.top(of: response), let branchText = top.value.branch,
            let branch = Branch(response[branchText]), let sequence = response.sequence,
            settings.topology.sockets.contains(where: {
                $0.isNamed(host: response[top.value.host], port: top.value.port)
            })
        else {
            // RFC 3261 §16.7 step 3 and §18.1.2: a response whose topmost Via is not ours was never for us.
            counters.add(.responsesDropped)
            return
        }
        let isForCancel = response[sequence.method].elementsEqual("CANCEL".utf8)
        let isForInvite = isForCancel || response[sequence.method].elementsEqual("INVITE".utf8)
        // RFC 3261 §17.1.3: branch and CSeq method name the transaction. One that has ended on the target's side lets a
        // late 2xx pass statelessly (§16.7 step 5).
        if let transaction = transactions[branch], transaction.isInvite == isForInvite,
            isForCancel || transaction.awaitsResponses
        {
            transactions.receive(response, in: transaction, isForCancel: isForCancel, at: arrival.now)
        } else {
            returnStatelessly(arrival, top.value, top.field, from: peer)
        }
    }

    package func deliver(_ response: SIPMessage, to transaction: ProxyTransaction, at now: Moment) {
        guard let status = response.status, let top = ViaValue.top(of: response) else { return }
        reporter.answered(response, in: transaction, at: now)
        var splices = Splices()
        ResponseForwarding.removeTopVia(top.value, field: top.field, of: response, into: &splices)
        if !transaction.originalFrom.isEmpty {
            ResponseForwarding.restoreFrom(transaction.originalFrom[...], in: response, into: &splices)
        }
        var upstream = status
        if status == 503 {
            // RFC 3261 §16.7 step 6: a target's 503 would make the carrier avoid the whole gateway.
            upstream = 500
            ResponseForwarding.replaceStatus("500 Server Internal Error", in: response, into: &splices)
        }
        counters.add(.responsesForwarded)
        transactions.respond(upstream, splices.applied(to: response.bytes), in: transaction, at: now)
    }

    package func targetTimedOut(_ transaction: ProxyTransaction, at now: Moment) {
        reporter.timedOut(transaction, at: now)
        guard let request = transaction.pendingRequest else { return }
        let bytes = LocalMessages.response(
            to: request, status: 408, phrase: "Request Timeout", toTag: ownTag(for: request), source: transaction.source
        )
        transactions.respond(408, bytes, in: transaction, at: now)
    }

    /// RFC 3261 §16.11: the Via below the gateway's says where the response goes; only known peers get any.
    private func returnStatelessly(
        _ arrival: Arrival, _ via: ViaValue, _ field: SIPMessage.HeaderField, from peer: GatewayTopology.Peer
    ) {
        let response = arrival.message
        guard response.status != 100, let next = ViaValue.second(of: response),
            let destination = ResponseForwarding.destination(of: next, in: response),
            let upstream = settings.topology.peer(at: destination)
        else {
            counters.add(.responsesDropped)
            return
        }
        let socket =
            switch upstream {
            case .trunk(let trunk): trunk.socket
            case .pbx(let pbx): pbx.socket
            }
        reporter.answeredWithoutMemory(response, fromTrunk: peer.isTrunk, at: arrival.now)
        var splices = Splices()
        ResponseForwarding.removeTopVia(via, field: field, of: response, into: &splices)
        counters.add(.forwardedStatelessly)
        transactions.outgoing.append(
            OutgoingDatagram(bytes: splices.applied(to: response.bytes), destination: destination, socket: socket))
    }
}
