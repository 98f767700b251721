// SPDX-License-Identifier: Apache-2.0

import Timers

/// What the proxy's owner is told about its transactions.
package protocol TransactionUser: AnyObject {
    /// The target answered, with anything but 100 (RFC 3261 §16.7 step 5).
    func deliver(_ response: SIPMessage, to transaction: ProxyTransaction, at now: Moment)
    /// The target did not answer in time: the owner tries another, or answers in its place (RFC 3261 §16.8).
    func targetTimedOut(_ transaction: ProxyTransaction, at now: Moment)
    /// The request could not be delivered to the target, which counts as a 503 of it (RFC 3261 §16.9).
    func targetUnreachable(_ transaction: ProxyTransaction, at now: Moment)
}

/// Every transaction the proxy keeps, by branch; it performs what their state machines ask for.
///
/// Owned by one worker thread. Losing all of it costs retransmissions, no call: what is not found here is forwarded
/// statelessly (RFC 3261 §16.11).
package final class ProxyTransactions<User: TransactionUser> {
    /// Messages waiting to be sent.
    package var outgoing: [OutgoingMessage] = []
    /// Receives deliveries; it owns this table.
    package unowned var user: User?
    let timing: TransactionTimers
    private let capacity: Int
    /// Bytes of the messages of all transactions, with their lists of fields.
    package private(set) var heldBytes = 0
    var byBranch = BranchTable()
    var wheel: TimerWheel
    var now: Moment

    /// Bytes a transaction may hold on the average when the table is full: nearly twice what an INVITE of a SIP trunk
    /// takes while it waits for its answer; afterwards some hundreds are left.
    package static var bytesOfOne: Int { 6_144 }

    /// Makes an empty table; `capacity` bounds the transactions kept at once, and with `bytesOfOne` what they hold.
    package init(timers: TransactionTimers, capacity: Int, now: Moment) {
        timing = timers
        self.capacity = capacity
        self.now = now
        // Address space alone: the array takes memory as it fills, and a larger one would be filled on the call path.
        wheel = TimerWheel(now: now.milliseconds, capacity: min(4 * capacity, 1 << 20))
        outgoing.reserveCapacity(64)
    }

    /// Moves what waits to be sent to the end of `out`.
    package func moveOutgoing(to out: inout [OutgoingMessage]) {
        guard !outgoing.isEmpty else { return }
        if out.isEmpty { return swap(&out, &outgoing) }
        out.append(contentsOf: outgoing)
        outgoing.removeAll(keepingCapacity: true)
    }

    /// How many transactions are kept.
    package var count: Int { byBranch.count }
    /// True when no more requests should be taken; those of dialogs that are there already may take as much again.
    package func isFull(forDialogs: Bool = false) -> Bool {
        let most = forDialogs ? capacity * 2 : capacity
        return byBranch.count >= most || heldBytes >= most * Self.bytesOfOne
    }
    /// When `fireTimers` is wanted; nil without timers.
    package var nextDeadline: UInt64? { wheel.nextDeadline }

    /// The transaction of a branch, if memory knows it.
    package subscript(branch: Branch) -> ProxyTransaction? { byBranch[branch] }

    /// Starts the server side of a new request; an INVITE is answered 100 when `forward` has sent it on.
    ///
    /// An answer before that leaves the 100 out (RFC 3261 §17.2.1).
    package func open(_ transaction: ProxyTransaction, at now: Moment) {
        self.now = now
        byBranch[transaction.branch] = transaction
        transaction.countedBytes = 0
        if transaction.isInvite {
            var machine = InviteServerTransaction(timers: timing, isReliable: transaction.isSourceReliable)
            let effects = machine.start()
            transaction.inviteServer = machine
            perform(effects, .server, transaction, nil)
        } else {
            var machine = NonInviteServerTransaction(timers: timing, isReliable: transaction.isSourceReliable)
            let effects = machine.start()
            transaction.otherServer = machine
            perform(effects, .server, transaction, nil)
        }
    }

    /// Sends the request to its target and starts the client side (RFC 3261 §16.6 step 10).
    ///
    /// - Parameter patience: how long silence is borne when another target could be tried; nil for Timer B or F.
    package func forward(
        _ transaction: ProxyTransaction, as bytes: [UInt8], to target: NextHop, patience: TimerDelay? = nil,
        at now: Moment
    ) {
        self.now = now
        transaction.forwarded = bytes
        transaction.target = target
        if transaction.isInvite {
            var machine = InviteClientTransaction(timers: timing, isReliable: target.isReliable, patience: patience)
            let effects = machine.start()
            transaction.inviteClient = machine
            perform(effects, .client, transaction, nil)
        } else {
            var machine = NonInviteClientTransaction(timers: timing, isReliable: target.isReliable, patience: patience)
            let effects = machine.start()
            transaction.otherClient = machine
            perform(effects, .client, transaction, nil)
        }
        if transaction.owesTrying { sendTrying(transaction) }
        weigh(transaction)
    }

    /// Leaves the present target and sends the request to the next one, as a client transaction of its own
    /// (RFC 3261 §16.7 step 4, §16.9).
    ///
    /// - Parameters:
    ///   - sockets: the local sockets by position, for the Via of the new attempt.
    ///   - secret: seals the dialog's cookie, which names the new target.
    /// - Returns: false when the request as forwarded is no longer kept; then nothing was done.
    package func retry(
        _ transaction: ProxyTransaction, at target: NextHop, sockets: [LocalSocket], secret: Secret,
        patience: TimerDelay?, at now: Moment
    ) -> Bool {
        guard let old = transaction.target, let request = transaction.forwardedRequest else { return false }
        let socket = sockets[target.socket]
        let change = TargetChange(
            old: sockets[old.socket], sourceSocket: sockets[transaction.flow.socket], socket: socket,
            target: DialogEnd(address: target.address, transport: socket.transport), secret: secret)
        guard
            let bytes = RequestForwarding.readdressed(
                request, branch: transaction.branch, attempt: transaction.attempt + 1, change)
        else { return false }
        for slot in 0..<3 { wheel.cancel(transaction.timers[Int(TransactionRole.client.rawValue) * 3 + slot]) }
        transaction.attempt += 1
        forward(transaction, as: bytes, to: target, patience: patience, at: now)
        return true
    }

    /// Leaves the last target: what it still says is acknowledged or cancelled, and a 2xx passes (RFC 3261 §16.7 steps 5
    /// and 10).
    package func giveUp(_ transaction: ProxyTransaction) {
        for slot in 0..<3 { wheel.cancel(transaction.timers[Int(TransactionRole.client.rawValue) * 3 + slot]) }
        transaction.attempt += 1
    }

    /// Hears that a request could not be delivered; word of a target given up since then is old.
    package func sendFailed(_ token: DeliveryToken, at now: Moment) {
        self.now = now
        guard let transaction = byBranch[token.branch], transaction.attempt == token.attempt else { return }
        perform(clientEffects(.transportFailed, transaction), .client, transaction, nil)
    }

    /// Takes a request that belongs to a known transaction: a retransmission or an ACK (RFC 3261 §17.2).
    ///
    /// - Returns: true when the owner must forward it, as it must the ACK of a 2xx.
    package func absorb(_ request: SIPMessage, in transaction: ProxyTransaction, at now: Moment) -> Bool {
        self.now = now
        let event: ServerTransactionEvent = request.method == .ack ? .ack : .request
        return perform(serverEffects(event, transaction), .server, transaction, nil)
    }

    /// Takes the caller's CANCEL for a pending INVITE; sent on at once or with the first provisional (RFC 3261 §9.1).
    package func cancel(_ transaction: ProxyTransaction, with request: SIPMessage?, at now: Moment) {
        self.now = now
        if transaction.receivedCancel == nil { transaction.receivedCancel = request }
        perform(clientEffects(.cancel, transaction), .client, transaction, nil)
        weigh(transaction)
    }

    /// Answers upstream: the bytes are kept for retransmission (RFC 3261 §16.7 step 9).
    ///
    /// A 2xx to an INVITE that was refused before goes on beside its server transaction, and changes nothing of it: every
    /// 2xx must reach the caller (§16.7 step 5).
    package func respond(_ status: Int, _ bytes: [UInt8], in transaction: ProxyTransaction, at now: Moment) {
        self.now = now
        if (200..<300).contains(status), transaction.inviteServer?.hasRefusedOrEnded == true {
            return sendUpstream(bytes, transaction)
        }
        if status >= 200 { transaction.releaseRequest() }
        transaction.owesTrying = false
        perform(serverEffects(.respond(status), transaction), .server, transaction, nil, responding: bytes)
        if status >= 200 { transaction.releaseMessages(afterFinal: status) }
        weigh(transaction)
    }

    /// Takes a response from the target; deliveries go to the owner.
    package func receive(
        _ response: SIPMessage, in transaction: ProxyTransaction, attempt: UInt8 = 0, from source: Flow? = nil,
        isForCancel: Bool, at now: Moment
    ) {
        self.now = now
        guard let status = response.status else { return }
        if attempt != transaction.attempt {
            if !isForCancel, let source { receiveLate(response, status, in: transaction, from: source) }
        } else if isForCancel {
            guard let effects = transaction.cancelClient?.receive(.response(status)) else { return }
            perform(effects, .cancel, transaction, nil)
        } else {
            perform(clientEffects(.response(status), transaction), .client, transaction, response)
        }
    }

    /// Takes a response of a target that was given up: its INVITE must not stay half open.
    ///
    /// A failure is acknowledged, ringing is cancelled, and a 2xx wins the call: it is passed on and the present
    /// target is cancelled (RFC 3261 §16.7 steps 5 and 10, §9.1, §17.1.1.3).
    private func receiveLate(
        _ response: SIPMessage, _ status: Int, in transaction: ProxyTransaction, from source: Flow
    ) {
        guard transaction.isInvite, status > 100 else { return }
        if (200..<300).contains(status) {
            perform(clientEffects(.cancel, transaction), .client, transaction, nil)
            user?.deliver(response, to: transaction, at: now)
        } else if let invite = transaction.forwardedRequest {
            let bytes =
                status < 200
                ? LocalMessages.cancel(of: invite, reasonsFrom: nil, via: response)
                : LocalMessages.acknowledgement(of: invite, answeredBy: response, via: response)
            outgoing.append(
                OutgoingMessage(
                    bytes: bytes, destination: source.returnAddress, socket: source.socket,
                    connection: source.connection))
        }
    }

    /// Timers that run out together wait for the messages that came meanwhile after so many.
    private static var timersAtOnce: Int { 128 }

    /// Runs timers that are due, a hundred or so; `nextDeadline` is not later than `now` while there are more.
    ///
    /// At 2,000 calls/s some 500 only forget at the same time, which takes half a millisecond.
    package func fireTimers(at now: Moment) {
        self.now = now
        for _ in 0..<Self.timersAtOnce {
            guard let due = wheel.popDue(by: now.milliseconds) else { return }
            guard let transaction = byBranch[Branch(token: due.id)],
                let role = TransactionRole(rawValue: due.kind >> 6),
                let timer = TransactionTimer(rawValue: due.kind & 63)
            else { continue }
            switch role {
            case .server: perform(serverEffects(.fired(timer), transaction), role, transaction, nil)
            case .client: perform(clientEffects(.fired(timer), transaction), role, transaction, nil)
            case .cancel:
                guard let effects = transaction.cancelClient?.receive(.fired(timer)) else { continue }
                perform(effects, role, transaction, nil)
            }
        }
    }

    /// Counts what a transaction in the table holds by now.
    private func weigh(_ transaction: ProxyTransaction) {
        guard let counted = transaction.countedBytes else { return }
        let held = transaction.heldBytes
        heldBytes += held - counted
        transaction.countedBytes = held
    }

    /// Takes a transaction out of the table.
    func forget(_ transaction: ProxyTransaction) {
        byBranch[transaction.branch] = nil
        heldBytes -= transaction.countedBytes ?? 0
        transaction.countedBytes = nil
    }

    private func serverEffects(_ event: ServerTransactionEvent, _ transaction: ProxyTransaction) -> TransactionEffects {
        transaction.inviteServer?.receive(event) ?? transaction.otherServer?.receive(event) ?? .none
    }

    private func clientEffects(_ event: ClientTransactionEvent, _ transaction: ProxyTransaction) -> TransactionEffects {
        transaction.inviteClient?.receive(event) ?? transaction.otherClient?.receive(event) ?? .none
    }
}
