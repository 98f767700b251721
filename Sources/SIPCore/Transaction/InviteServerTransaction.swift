// SPDX-License-Identifier: Apache-2.0

/// The INVITE server transaction of RFC 3261 §17.2.1 as changed by RFC 6026 §7.1.
///
/// Pure: events go in, effects come out. An event that means nothing in the present state is absorbed.
public struct InviteServerTransaction: TransactionMachine {
    /// The states of RFC 3261 Figure 7 as RFC 6026 redraws it, each with those that may follow it.
    public enum State: Sendable {
        /// No final response yet. Then Accepted or Completed.
        case proceeding
        /// A 3xx to 6xx went out and waits for its ACK. Then Confirmed or Terminated.
        case completed
        /// A 2xx went out; resent INVITEs are absorbed, further 2xx pass. Then Terminated.
        case accepted
        /// The ACK came; its repetitions are absorbed. Then Terminated.
        case confirmed
        /// Over; nothing follows.
        case terminated
    }

    /// The present state.
    public private(set) var state = State.proceeding
    public var isTerminated: Bool { state == .terminated }
    /// True where a 2xx means nothing to it any more.
    public var hasRefusedOrEnded: Bool { state == .completed || state == .confirmed || state == .terminated }
    private let timers: TransactionTimers
    private let isReliable: Bool
    private var resends: UInt8 = 0

    /// Makes the transaction of an INVITE that matched no other.
    ///
    /// - Parameter isReliable: whether the INVITE came over TCP, TLS or another transport that loses nothing.
    public init(timers: TransactionTimers, isReliable: Bool) {
        self.timers = timers
        self.isReliable = isReliable
    }

    /// Hands the INVITE to the proxy core, then sends 100.
    ///
    /// §17.2.1 lets the 100 be left out if a response follows within 200 ms; a proxy cannot know that (§16.2).
    public mutating func start() -> TransactionEffects {
        TransactionEffects(.deliverRequest, .sendTrying)
    }

    /// Moves to the next state for an event, and returns the effects to carry out.
    public mutating func receive(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch state {
        case .proceeding: proceeding(event)
        case .completed: completed(event)
        case .accepted: accepted(event)
        case .confirmed: confirmed(event)
        case .terminated: .none
        }
    }

    private mutating func proceeding(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .request:
            return TransactionEffects(.resendResponse)
        case .respond(let status):
            return respond(ResponseKind(status))
        case .transportFailed:
            // RFC 6026 §7.1: stay, so that resent INVITEs go on being absorbed instead of starting a second call.
            return TransactionEffects(.transportFailed)
        case .ack, .fired:
            return .none
        }
    }

    private mutating func respond(_ kind: ResponseKind?) -> TransactionEffects {
        switch kind {
        case .provisional:
            return TransactionEffects(.sendResponse)
        case .success:
            state = .accepted
            // RFC 6026 §7.1: timer L runs on every transport.
            return TransactionEffects(.sendResponse, .start(.l, after: timers.transactionTimeout))
        case .failure:
            state = .completed
            return TransactionEffects(
                .sendResponse,
                isReliable ? nil : .start(.g, after: timers.cappedInterval(afterResends: 0)),
                .start(.h, after: timers.transactionTimeout))
        case nil:
            return .none
        }
    }

    private mutating func completed(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .request:
            return TransactionEffects(.resendResponse)
        case .ack:
            state = isReliable ? .terminated : .confirmed
            return TransactionEffects(
                .stop([TimerSet(.g), TimerSet(.h)]),
                isReliable ? .terminate : .start(.i, after: timers.t4))
        case .fired(.g):
            resends = min(resends, .max - 1) + 1
            return TransactionEffects(.resendResponse, .start(.g, after: timers.cappedInterval(afterResends: resends)))
        case .fired(.h):
            state = .terminated
            return TransactionEffects(.timeout, .terminate)
        case .transportFailed:
            return TransactionEffects(.transportFailed)
        case .respond, .fired:
            return .none
        }
    }

    private mutating func accepted(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .ack:
            return TransactionEffects(.deliverAck)
        case .respond(let status) where ResponseKind(status) == .success:
            return TransactionEffects(.sendResponse)
        case .fired(.l):
            state = .terminated
            return TransactionEffects(.terminate)
        case .transportFailed:
            return TransactionEffects(.transportFailed)
        case .request, .respond, .fired:
            return .none
        }
    }

    private mutating func confirmed(_ event: ServerTransactionEvent) -> TransactionEffects {
        guard event == .fired(.i) else { return .none }
        state = .terminated
        return TransactionEffects(.terminate)
    }
}
