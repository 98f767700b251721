// SPDX-License-Identifier: Apache-2.0

/// The client transaction of a request other than INVITE and ACK: RFC 3261 §17.1.2.
///
/// Pure: events go in, effects come out. A CANCEL and an OPTIONS ping are such requests; cancelling one is not done
/// (§9.1) and is absorbed.
public struct NonInviteClientTransaction: TransactionMachine {
    /// The states of RFC 3261 Figure 6, each with those that may follow it.
    public enum State: Sendable {
        /// The request went out and nothing came back. Then any other state.
        case trying
        /// A provisional response came. Then Completed or Terminated.
        case proceeding
        /// The final response came; its repetitions are absorbed. Then Terminated.
        case completed
        /// Over; nothing follows.
        case terminated
    }

    /// The present state.
    public private(set) var state = State.trying
    public var isTerminated: Bool { state == .terminated }
    private let timers: TransactionTimers
    private let isReliable: Bool
    private let patience: TimerDelay
    private var resends: UInt8 = 0

    /// Makes the transaction with the patience of RFC 3261: 64 × T1.
    public init(timers: TransactionTimers, isReliable: Bool) {
        self.init(timers: timers, isReliable: isReliable, patience: nil)
    }

    /// Makes the transaction of one request towards one target.
    ///
    /// - Parameters:
    ///   - isReliable: whether the request leaves over TCP, TLS or another transport that loses nothing.
    ///   - patience: how long silence is borne, where not the 64 × T1 of Timer F: shorter when another target
    ///     could be tried instead (§16.7 step 4).
    public init(timers: TransactionTimers, isReliable: Bool, patience: TimerDelay?) {
        self.timers = timers
        self.isReliable = isReliable
        self.patience = patience ?? timers.transactionTimeout
    }

    /// Sends the request and starts timers E (unreliable transports) and F (§17.1.2.2).
    public mutating func start() -> TransactionEffects {
        TransactionEffects(
            .sendRequest,
            isReliable ? nil : .start(.e, after: timers.cappedInterval(afterResends: 0)),
            .start(.f, after: patience))
    }

    /// Moves to the next state for an event, and returns the effects to carry out.
    public mutating func receive(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch state {
        case .trying, .proceeding: waiting(event)
        case .completed: completed(event)
        case .terminated: .none
        }
    }

    private mutating func waiting(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch event {
        case .response(let status):
            return receiveResponse(ResponseKind(status))
        case .fired(.e):
            return resend()
        case .fired(.f):
            return end(.timeout)
        case .transportFailed:
            return end(.transportFailed)
        case .cancel, .fired:
            return .none
        }
    }

    private mutating func resend() -> TransactionEffects {
        resends = min(resends, .max - 1) + 1
        // §17.1.2.2: once a provisional response came, E runs at T2.
        let interval = state == .proceeding ? timers.t2 : timers.cappedInterval(afterResends: resends)
        return TransactionEffects(.resendRequest, .start(.e, after: interval))
    }

    private mutating func receiveResponse(_ kind: ResponseKind?) -> TransactionEffects {
        switch kind {
        case .provisional:
            state = .proceeding
            return TransactionEffects(.deliverResponse)
        case .success, .failure:
            state = isReliable ? .terminated : .completed
            return TransactionEffects(
                .stop([TimerSet(.e), TimerSet(.f)]), .deliverResponse,
                isReliable ? .terminate : .start(.k, after: timers.t4))
        case nil:
            return .none
        }
    }

    private mutating func completed(_ event: ClientTransactionEvent) -> TransactionEffects {
        guard event == .fired(.k) else { return .none }
        state = .terminated
        return TransactionEffects(.terminate)
    }

    private mutating func end(_ reason: TransactionEffect) -> TransactionEffects {
        state = .terminated
        return TransactionEffects(reason, .terminate)
    }
}
