// SPDX-License-Identifier: Apache-2.0

/// What the proxy's owner is told about its transactions.
package protocol TransactionUser: AnyObject {
    /// The target answered, with anything but 100 (RFC 3261 §16.7 step 5).
    func deliver(_ response: SIPMessage, to transaction: ProxyTransaction, at now: Moment)
    /// The target did not answer in time: the owner answers in its place (RFC 3261 §16.8).
    func targetTimedOut(_ transaction: ProxyTransaction, at now: Moment)
}

/// Every transaction the proxy keeps, by branch; it performs what their state machines ask for.
///
/// Owned by one worker thread. Losing all of it costs retransmissions, no call: what is not found here is forwarded
/// statelessly (RFC 3261 §16.11).
package final class ProxyTransactions {
    /// Datagrams waiting to be sent.
    package var outgoing: [OutgoingDatagram] = []
    /// Whom deliveries go to.
    package weak var user: (any TransactionUser)?
    private let timing: TransactionTimers
    private let capacity: Int
    private var byBranch: [Branch: ProxyTransaction] = [:]
    private var wheel: TimerWheel
    private var now: Moment

    /// Makes an empty table; `capacity` bounds the transactions kept at once.
    package init(timers: TransactionTimers, capacity: Int, now: Moment) {
        timing = timers
        self.capacity = capacity
        self.now = now
        wheel = TimerWheel(now: now.milliseconds)
        outgoing.reserveCapacity(64)
    }

    /// How many transactions are kept.
    package var count: Int { byBranch.count }
    /// True when no more requests should be taken.
    package var isFull: Bool { byBranch.count >= capacity }
    /// When `fireTimers` is wanted; nil without timers.
    package var nextDeadline: UInt64? { wheel.nextDeadline }

    /// The transaction of a branch, if memory knows it.
    package subscript(branch: Branch) -> ProxyTransaction? { byBranch[branch] }

    /// Starts the server side of a new request; an INVITE is answered 100 at once (RFC 3261 §17.2.1).
    package func open(_ transaction: ProxyTransaction, at now: Moment) {
        self.now = now
        byBranch[transaction.branch] = transaction
        if transaction.isInvite {
            var machine = InviteServerTransaction(timers: timing, isReliable: false)
            let effects = machine.start()
            transaction.inviteServer = machine
            perform(effects, .server, transaction, nil)
        } else {
            var machine = NonInviteServerTransaction(timers: timing, isReliable: false)
            let effects = machine.start()
            transaction.otherServer = machine
            perform(effects, .server, transaction, nil)
        }
    }

    /// Sends the request to its target and starts the client side (RFC 3261 §16.6 step 10).
    package func forward(
        _ transaction: ProxyTransaction, as bytes: [UInt8], to target: PeerAddress, from socket: Int, at now: Moment
    ) {
        self.now = now
        transaction.forwarded = bytes
        transaction.target = target
        transaction.targetSocket = socket
        if transaction.isInvite {
            var machine = InviteClientTransaction(timers: timing, isReliable: false)
            let effects = machine.start()
            transaction.inviteClient = machine
            perform(effects, .client, transaction, nil)
        } else {
            var machine = NonInviteClientTransaction(timers: timing, isReliable: false)
            let effects = machine.start()
            transaction.otherClient = machine
            perform(effects, .client, transaction, nil)
        }
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
    }

    /// Answers upstream: the bytes are kept for retransmission (RFC 3261 §16.7 step 9).
    package func respond(_ status: Int, _ bytes: [UInt8], in transaction: ProxyTransaction, at now: Moment) {
        self.now = now
        if status >= 200 { transaction.releaseRequest() }
        perform(serverEffects(.respond(status), transaction), .server, transaction, nil, responding: bytes)
        if status >= 200 { transaction.releaseMessages(afterFinal: status) }
    }

    /// Takes a response from the target; deliveries go to the owner.
    package func receive(_ response: SIPMessage, in transaction: ProxyTransaction, isForCancel: Bool, at now: Moment) {
        self.now = now
        guard let status = response.status else { return }
        if isForCancel {
            guard let effects = transaction.cancelClient?.receive(.response(status)) else { return }
            perform(effects, .cancel, transaction, nil)
        } else {
            perform(clientEffects(.response(status), transaction), .client, transaction, response)
        }
    }

    /// Runs every timer that is due.
    package func fireTimers(at now: Moment) {
        self.now = now
        while let due = wheel.popDue(by: now.milliseconds) {
            guard let transaction = byBranch[Branch(value: due.id)],
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

    private func serverEffects(_ event: ServerTransactionEvent, _ transaction: ProxyTransaction) -> TransactionEffects {
        transaction.inviteServer?.receive(event) ?? transaction.otherServer?.receive(event) ?? .none
    }

    private func clientEffects(_ event: ClientTransactionEvent, _ transaction: ProxyTransaction) -> TransactionEffects {
        transaction.inviteClient?.receive(event) ?? transaction.otherClient?.receive(event) ?? .none
    }
}

// MARK: - Effects

extension ProxyTransactions {
    /// Does what a state machine asked for, in order; true when an ACK is to be forwarded by the owner.
    @discardableResult
    private func perform(
        _ effects: TransactionEffects, _ role: TransactionRole, _ transaction: ProxyTransaction,
        _ received: SIPMessage?, responding bytes: [UInt8]? = nil
    ) -> Bool {
        var ackIsDue = false
        for effect in effects {
            switch effect {
            case .sendRequest, .resendRequest:
                sendDownstream(role == .cancel ? transaction.cancel : transaction.forwarded, transaction)
            case .sendAck: sendAck(for: received, transaction)
            case .sendCancel: sendCancel(transaction)
            case .sendTrying: sendTrying(transaction)
            case .sendResponse:
                if let bytes { transaction.lastResponse = bytes }
                sendUpstream(transaction)
            case .resendResponse: sendUpstream(transaction)
            case .deliverAck: ackIsDue = true
            case .deliverResponse: deliver(received, transaction)
            case .timeout:
                if role == .client { user?.targetTimedOut(transaction, at: now) }
            case .start(let timer, let delay): start(timer, after: delay, role, transaction)
            case .stop(let timers): stop(timers, role, transaction)
            case .deliverRequest, .transportFailed: break
            case .terminate: end(role, transaction)
            }
        }
        return ackIsDue
    }

    private func deliver(_ response: SIPMessage?, _ transaction: ProxyTransaction) {
        // §16.7 step 5: a 100 is not forwarded. An answer to a CANCEL ends here (§16.10).
        guard let response, let status = response.status, status > 100 else { return }
        user?.deliver(response, to: transaction, at: now)
    }

    private func sendDownstream(_ bytes: [UInt8], _ transaction: ProxyTransaction) {
        guard let target = transaction.target else { return }
        outgoing.append(OutgoingDatagram(bytes: bytes, destination: target, socket: transaction.targetSocket))
    }

    private func sendUpstream(_ transaction: ProxyTransaction) {
        guard !transaction.lastResponse.isEmpty else { return }
        outgoing.append(
            OutgoingDatagram(
                bytes: transaction.lastResponse, destination: transaction.answersTo, socket: transaction.sourceSocket))
    }

    private func sendTrying(_ transaction: ProxyTransaction) {
        guard let request = transaction.request else { return }
        transaction.lastResponse = LocalMessages.response(
            to: request, status: 100, phrase: "Trying", toTag: nil, source: transaction.source)
        sendUpstream(transaction)
    }

    private func sendAck(for response: SIPMessage?, _ transaction: ProxyTransaction) {
        guard let response, let invite = transaction.forwardedInvite else { return }
        sendDownstream(LocalMessages.acknowledgement(of: invite, answeredBy: response), transaction)
    }

    private func sendCancel(_ transaction: ProxyTransaction) {
        guard let invite = transaction.forwardedInvite else { return }
        transaction.cancel = LocalMessages.cancel(of: invite, reasonsFrom: transaction.receivedCancel)
        var machine = NonInviteClientTransaction(timers: timing, isReliable: false)
        let effects = machine.start()
        transaction.cancelClient = machine
        perform(effects, .cancel, transaction, nil)
    }

    private func start(
        _ timer: TransactionTimer, after delay: Duration, _ role: TransactionRole, _ transaction: ProxyTransaction
    ) {
        let slot = Int(role.rawValue) * 3 + timer.slot
        wheel.cancel(transaction.timers[slot])
        let (seconds, attoseconds) = delay.components
        let milliseconds = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        transaction.timers[slot] = wheel.schedule(
            at: now.milliseconds + milliseconds, id: transaction.branch.value, kind: role.rawValue << 6 | timer.rawValue
        )
    }

    private func stop(_ timers: TimerSet, _ role: TransactionRole, _ transaction: ProxyTransaction) {
        for timer in TransactionTimer.allCases where timers.contains(timer) {
            wheel.cancel(transaction.timers[Int(role.rawValue) * 3 + timer.slot])
        }
    }

    private func end(_ role: TransactionRole, _ transaction: ProxyTransaction) {
        for slot in 0..<3 { wheel.cancel(transaction.timers[Int(role.rawValue) * 3 + slot]) }
        guard transaction.isOver else { return }
        byBranch[transaction.branch] = nil
    }
}
