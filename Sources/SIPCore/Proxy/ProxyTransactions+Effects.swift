// SPDX-License-Identifier: Apache-2.0

import Primitives

// The effects of a transaction's state machines: sending, timers, calls to the owner (RFC 3261 §17).

extension ProxyTransactions {
    /// Performs effects in order; true when the owner must forward an ACK.
    @discardableResult
    func perform(
        _ effects: TransactionEffects, _ role: TransactionRole, _ transaction: Transaction,
        _ received: SIPMessage?, responding bytes: [UInt8]? = nil
    ) -> Bool {
        var ackIsDue = false
        let attempt = transaction.attempt
        for effect in effects {
            // The owner chose another target meanwhile: the remaining effects are for the one given up.
            if role == .client, transaction.attempt != attempt { break }
            switch effect {
            case .sendRequest, .resendRequest:
                if role == .cancel {
                    sendDownstream(transaction.cancel, transaction)
                } else {
                    let token = DeliveryToken(branch: transaction.branch, attempt: transaction.attempt)
                    sendDownstream(transaction.forwarded, transaction, token)
                }
            case .sendAck: sendAck(for: received, transaction)
            case .sendCancel: sendCancel(transaction)
            case .sendTrying: sendTrying(transaction)
            case .sendResponse:
                if let bytes { transaction.lastResponse = bytes }
                sendUpstream(transaction.lastResponse, transaction)
            case .resendResponse: sendUpstream(transaction.lastResponse, transaction)
            case .deliverAck: ackIsDue = true
            case .deliverResponse: deliver(received, transaction)
            case .timeout:
                if role == .client { user?.targetTimedOut(transaction, at: now) }
            case .transportFailed:
                if role == .client { user?.targetUnreachable(transaction, at: now) }
            case .start(let timer, let delay): start(timer, after: delay, role, transaction)
            case .stop(let timers): stop(timers, role, transaction)
            case .deliverRequest: break
            case .terminate: end(role, transaction)
            }
        }
        return ackIsDue
    }

    private func deliver(_ response: SIPMessage?, _ transaction: Transaction) {
        // §16.7 step 5: a 100 is not forwarded. A response to a CANCEL ends here (§16.10).
        guard let response, let status = response.status, status > 100 else { return }
        if status < 200 { transaction.hasProgress = true }
        user?.deliver(response, to: transaction, at: now)
    }

    private func sendDownstream(
        _ bytes: [UInt8], _ transaction: Transaction, _ token: DeliveryToken = .none
    ) {
        guard let target = transaction.target else { return }
        outgoing.append(
            OutgoingMessage(
                bytes: bytes, destination: target.address, socket: target.socket, connection: target.connection,
                token: token))
    }

    func sendUpstream(_ bytes: [UInt8], _ transaction: Transaction) {
        guard !bytes.isEmpty else { return }
        outgoing.append(
            OutgoingMessage(
                bytes: bytes, destination: transaction.responseAddress, socket: transaction.flow.socket,
                connection: transaction.flow.connection))
    }

    /// Sends a 100; for an INVITE only after it was forwarded, since the call is more urgent.
    func sendTrying(_ transaction: Transaction) {
        transaction.owesTrying = transaction.isInvite && transaction.target == nil
        guard !transaction.owesTrying else { return }
        guard let request = transaction.request else { return }
        transaction.lastResponse = LocalMessages.response(
            to: request, status: 100, phrase: "Trying", toTag: nil, source: transaction.flow.source)
        sendUpstream(transaction.lastResponse, transaction)
    }

    private func sendAck(for response: SIPMessage?, _ transaction: Transaction) {
        guard let response, let invite = transaction.forwardedRequest else { return }
        sendDownstream(LocalMessages.acknowledgement(of: invite, for: response), transaction)
    }

    private func sendCancel(_ transaction: Transaction) {
        guard let invite = transaction.forwardedRequest else { return }
        transaction.cancel = LocalMessages.cancel(of: invite, reasonsFrom: transaction.receivedCancel)
        let isReliable = transaction.target?.isReliable ?? false
        let effects = transaction.client.startCancel(timers: timing, isReliable: isReliable)
        perform(effects, .cancel, transaction, nil)
    }

    private func start(
        _ timer: TransactionTimer, after delay: TimerDelay, _ role: TransactionRole, _ transaction: Transaction
    ) {
        let slot = Int(role.rawValue) * 3 + timer.slot
        wheel.cancel(transaction.timers[slot])
        var deadline = now.milliseconds + delay.milliseconds
        // Four of these expire for each call. Rounding lets one wake-up serve many.
        if timer.onlyForgets { deadline = (deadline + 63) & ~63 }
        transaction.timers[slot] = wheel.schedule(
            at: deadline, id: transaction.branch.value, kind: role.rawValue << 6 | timer.rawValue)
    }

    private func stop(_ timers: TimerSet, _ role: TransactionRole, _ transaction: Transaction) {
        var rest = timers.rawValue
        while rest != 0 {
            guard let timer = TransactionTimer(rawValue: UInt8(rest.trailingZeroBitCount)) else { return }
            wheel.cancel(transaction.timers[Int(role.rawValue) * 3 + timer.slot])
            rest &= rest - 1
        }
    }

    private func end(_ role: TransactionRole, _ transaction: Transaction) {
        for slot in 0..<3 { wheel.cancel(transaction.timers[Int(role.rawValue) * 3 + slot]) }
        guard transaction.isOver else { return }
        forget(transaction)
    }
}
