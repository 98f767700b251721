// SPDX-License-Identifier: Apache-2.0

/// The INVITE client transaction of RFC 3261 §17.1.1 as changed by RFC 6026 §7.2, with a proxy's timer C and CANCEL.
///
/// Pure: events go in, effects come out. An event that means nothing in the present state is absorbed.
public struct InviteClientTransaction: TransactionMachine {
    /// The states of RFC 3261 Figure 5 as RFC 6026 redraws it, each with those that may follow it.
    public enum State: Sendable {
        /// The INVITE went out and nothing came back. Then any other state.
        case calling
        /// A provisional response came. Then Completed, Accepted or Terminated.
        case proceeding
        /// A 3xx to 6xx came; its repetitions are acknowledged and absorbed. Then Terminated.
        case completed
        /// A 2xx came; every further 2xx is passed up. Then Terminated.
        case accepted
        /// Over; nothing follows.
        case terminated
    }

    /// The present state.
    public private(set) var state = State.calling
    public var isTerminated: Bool { state == .terminated }
    /// Whether the INVITE is cancelled, by the proxy core or by timer C, whether or not the CANCEL has left yet.
    public private(set) var isCancelled = false
    private let timers: TransactionTimers
    private let isReliable: Bool
    private let patience: TimerDelay
    private var resends: UInt8 = 0

    /// Makes the transaction with the patience of RFC 3261: 64 × T1.
    public init(timers: TransactionTimers, isReliable: Bool) {
        self.init(timers: timers, isReliable: isReliable, patience: nil)
    }

    /// Makes the transaction of one INVITE towards one target.
    ///
    /// - Parameters:
    ///   - isReliable: whether the INVITE leaves over TCP, TLS or another transport that loses nothing.
    ///   - patience: how long silence is borne, where not the 64 × T1 of Timer B: shorter when another target
    ///     could be tried instead (§16.7 step 4).
    public init(timers: TransactionTimers, isReliable: Bool, patience: TimerDelay?) {
        self.timers = timers
        self.isReliable = isReliable
        self.patience = patience ?? timers.transactionTimeout
    }

    /// Sends the INVITE and starts timers A (unreliable transports), B and C (§17.1.1.2, §16.6 step 11).
    public mutating func start() -> TransactionEffects {
        TransactionEffects(
            .sendRequest,
            isReliable ? nil : .start(.a, after: timers.doubledInterval(afterResends: 0)),
            .start(.b, after: patience),
            .start(.c, after: timers.c))
    }

    /// Moves to the next state for an event, and returns the effects to carry out.
    public mutating func receive(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch state {
        case .calling: calling(event)
        case .proceeding: proceeding(event)
        case .completed: completed(event)
        case .accepted: accepted(event)
        case .terminated: .none
        }
    }

    private mutating func calling(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch event {
        case .response(let status):
            return receiveResponse(status, stopping: .calling)
        case .cancel:
            // §9.1: with no provisional response yet, the CANCEL must wait for one, and no other target is tried meanwhile.
            defer { isCancelled = true }
            return isCancelled || patience == timers.transactionTimeout
                ? .none : TransactionEffects(.start(.b, after: timers.transactionTimeout))
        case .fired(.a):
            resends = min(resends, .max - 1) + 1
            return TransactionEffects(.resendRequest, .start(.a, after: timers.doubledInterval(afterResends: resends)))
        case .fired(.b), .fired(.c):
            // §16.8: timer C without any provisional response counts as a 408, as timer B does.
            return end(.timeout)
        case .transportFailed:
            return end(.transportFailed)
        case .fired:
            return .none
        }
    }

    private mutating func proceeding(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch event {
        case .response(let status):
            return receiveResponse(status, stopping: .proceeding)
        case .cancel where !isCancelled, .fired(.c) where !isCancelled:
            // §16.8: timer C after a provisional response makes the proxy cancel.
            isCancelled = true
            return TransactionEffects(.stop(TimerSet(.c)), .sendCancel, cancelWait)
        case .fired(.cancelWait):
            // §9.1: no final response 64 × T1 after the CANCEL, so the INVITE counts as cancelled.
            return end(.timeout)
        case .cancel, .fired, .transportFailed:
            // Nothing was sent in this state, so a transport failure is not about this transaction.
            return .none
        }
    }

    private mutating func receiveResponse(_ status: Int, stopping running: TimerSet) -> TransactionEffects {
        switch ResponseKind(status) {
        case .provisional:
            return provisional(status)
        case .success:
            state = .accepted
            // RFC 6026 §7.2: timer M runs on every transport.
            return TransactionEffects(
                .stop(running), .deliverResponse, .start(.m, after: timers.transactionTimeout))
        case .failure:
            state = isReliable ? .terminated : .completed
            return TransactionEffects(
                .stop(running), .sendAck, .deliverResponse,
                isReliable ? .terminate : .start(.d, after: timers.d))
        case nil:
            return .none
        }
    }

    private mutating func provisional(_ status: Int) -> TransactionEffects {
        let isFirst = state == .calling
        state = .proceeding
        if isCancelled {
            return isFirst
                ? TransactionEffects(.stop(.calling), .sendCancel, cancelWait, .deliverResponse)
                : TransactionEffects(.deliverResponse)
        }
        return TransactionEffects(
            isFirst ? .stop([TimerSet(.a), TimerSet(.b)]) : nil,
            // §16.7 step 2: 101 to 199 reset timer C, a 100 does not.
            status == 100 ? nil : .start(.c, after: timers.c),
            .deliverResponse)
    }

    private mutating func completed(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch event {
        case .response(let status):
            switch ResponseKind(status) {
            case .failure: return TransactionEffects(.sendAck)
            // §16.7 step 5: a 2xx must reach the proxy core whatever came before it from another branch downstream.
            case .success: return TransactionEffects(.deliverResponse)
            case .provisional, nil: return .none
            }
        case .fired(.d):
            state = .terminated
            return TransactionEffects(.terminate)
        case .transportFailed:
            return end(.transportFailed)
        case .cancel, .fired:
            return .none
        }
    }

    private mutating func accepted(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch event {
        case .response(let status) where ResponseKind(status) == .success:
            return TransactionEffects(.deliverResponse)
        case .fired(.m):
            state = .terminated
            return TransactionEffects(.terminate)
        case .response, .cancel, .fired, .transportFailed:
            return .none
        }
    }

    private var cancelWait: TransactionEffect { .start(.cancelWait, after: timers.transactionTimeout) }

    private mutating func end(_ reason: TransactionEffect) -> TransactionEffects {
        state = .terminated
        return TransactionEffects(reason, .terminate)
    }
}
