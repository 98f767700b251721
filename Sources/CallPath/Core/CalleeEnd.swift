// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Final responses that cannot reach the caller (RFC 3261 §16.7 steps 3 and 5).

extension ProxyCore {
    /// Marks a response whose only Via is the gateway's, and leaves a record of it.
    ///
    /// A 100 is for this hop alone, and so is the response to a request of the gateway itself.
    func markWithoutVia(_ arrival: Arrival, of transaction: GatewayTransaction) {
        guard let status = arrival.message.status, status > 100, !transaction.isOwn else { return }
        sourceWithoutVia = arrival.flow
        let reason: StaticString =
            status < 200
            ? "its only Via is Herald's"
            : status < 300 && transaction.isCall
                ? "its only Via is Herald's; the caller gets 502, and the callee is hung up"
                : "its only Via is Herald's; the sender of the request gets 502"
        drop(arrival, reason)
    }

    /// Takes a response whose only Via is the gateway's, which has no way upstream (RFC 3261 §16.7 step 3).
    ///
    /// The caller gets 502 for it, and does not ring on. A callee that answered is hung up.
    func takeWithoutVia(_ response: SIPMessage, _ status: Int, for transaction: GatewayTransaction, at now: Moment) {
        guard status >= 200, let source = sourceWithoutVia else { return }
        if status < 300 { endCallee(of: response, in: transaction, from: source, at: now) }
        reporter.unusable(transaction, at: now)
        respond(in: transaction, 502, "Bad Gateway", at: now)
    }

    /// Ends the call of a callee whose 2xx comes too late: the gateway has sent the caller a failure of its own.
    ///
    /// RFC 3261 §16.7 step 5 lets a 2xx follow. But ordinary callers have forgotten the INVITE by then, and the callee would
    /// wait for an ACK and talk to nobody.
    func takeTooLate(_ arrival: Arrival, for transaction: GatewayTransaction) {
        counters.add(.responsesDropped)
        shared.recordRejection(
            of: arrival.message, by: arrival.flow, 0, for: .tooLate, settings, at: arrival.now)
        endCallee(of: arrival.message, in: transaction, from: arrival.flow, at: arrival.now)
    }

    /// Acknowledges a 2xx in the caller's place, and hangs up: the ACK for each 2xx, the BYE once (RFC 3261 §13.2.2.4, §15).
    ///
    /// A 2xx inside a dialog is acknowledged alone: the call goes on as it was.
    private func endCallee(
        of response: SIPMessage, in transaction: GatewayTransaction, from source: Flow, at now: Moment
    ) {
        guard transaction.isInvite else { return }
        let socket = settings.topology.sockets[source.socket]
        let hop = NextHop(
            address: source.returnAddress, socket: source.socket, isReliable: socket.transport.isReliable,
            connection: source.connection)
        let branch = ownBranch(after: transaction.branch)
        let end = CalleeRequests(success: response, socket: socket, branch: branch)
        transactions.outgoing.append(
            OutgoingMessage(
                bytes: end.ack, destination: hop.address, socket: hop.socket, connection: hop.connection))
        guard transaction.isCall, transactions[branch] == nil, let bye = try? SIPMessage.index(end.bye, limits: .none)
        else { return }
        transactions.begin(
            GatewayTransaction(own: bye, branch: branch, flow: source, ownerState: TransactionFacts(call: nil)),
            as: end.bye, to: hop, at: now)
    }

    /// A branch for the gateway's own request, in the same shard as another one.
    private func ownBranch(after branch: Branch) -> Branch {
        var hash = settings.secret.hash(for: .branch)
        hash.combine(branch.value)
        let count = UInt64(shardCount)
        let value = hash.finish() >> 1
        return Branch(token: value - value % count + branch.value % count)
    }
}
