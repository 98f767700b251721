// SPDX-License-Identifier: Apache-2.0

/// The server transaction of a request other than INVITE and ACK: RFC 3261 §17.2.2 as changed by RFC 4320.
///
/// Pure: events go in, effects come out. Three responses that RFC 4320 forbids are not sent: a provisional response
/// other than 100, a 100 over an unreliable transport before its time, and a 408. If no response came, the proxy passes
/// 408 to this transaction all the same. The transaction then completes without a response, and goes on absorbing
/// retransmissions.
public struct NonInviteServerTransaction: TransactionMachine {
    /// The states of RFC 3261 Figure 8, each with those that may follow it.
    public enum State: Sendable {
        /// No response was sent yet. Then any other state.
        case trying
        /// A 100 went out. Then Completed or Terminated.
        case proceeding
        /// The final response went out, or none ever will. Then Terminated.
        case completed
        /// Over; nothing follows.
        case terminated
    }

    /// The present state.
    public private(set) var state = State.trying
    public var isTerminated: Bool { state == .terminated }
    private let timers: TransactionTimers
    private let isReliable: Bool
    private var isSilent = false

    /// Makes the transaction of a request that matched no other.
    ///
    /// - Parameter isReliable: whether the request came over TCP, TLS or another transport that loses nothing.
    public init(timers: TransactionTimers, isReliable: Bool) {
        self.timers = timers
        self.isReliable = isReliable
    }

    /// Hands the request to the proxy core and sets the time at which a 100 must go out (RFC 4320 §4.1).
    public mutating func start() -> TransactionEffects {
        TransactionEffects(.deliverRequest, .start(.trying, after: timers.tryingDelay))
    }

    /// Moves to the next state for an event, and returns the effects to carry out.
    public mutating func receive(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch state {
        case .trying: trying(event)
        case .proceeding: proceeding(event)
        case .completed: completed(event)
        case .terminated: .none
        }
    }

    private mutating func trying(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .respond(100) where isReliable:
            // RFC 4320 §4.1: over a reliable transport a 100 may go out at any time.
            state = .proceeding
            return TransactionEffects(.stop(TimerSet(.trying)), .sendResponse)
        case .respond(let status):
            return respond(status)
        case .fired(.trying):
            state = .proceeding
            return TransactionEffects(.sendTrying)
        case .request, .ack, .fired, .transportFailed:
            return .none
        }
    }

    private mutating func proceeding(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .request:
            return TransactionEffects(.resendResponse)
        case .respond(100):
            return TransactionEffects(.sendResponse)
        case .respond(let status):
            return respond(status)
        case .transportFailed:
            return end(.transportFailed)
        case .ack, .fired:
            return .none
        }
    }

    private mutating func respond(_ status: Int) -> TransactionEffects {
        guard let kind = ResponseKind(status), kind != .provisional else { return .none }
        // RFC 4320 §4.2: a 408 comes too late to be of use to anybody upstream and must not be sent.
        isSilent = status == 408
        state = isReliable ? .terminated : .completed
        return TransactionEffects(
            .stop(TimerSet(.trying)),
            isSilent ? nil : .sendResponse,
            isReliable ? .terminate : .start(.j, after: timers.transactionTimeout))
    }

    private mutating func completed(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch event {
        case .request:
            return isSilent ? .none : TransactionEffects(.resendResponse)
        case .fired(.j):
            state = .terminated
            return TransactionEffects(.terminate)
        case .transportFailed:
            return end(.transportFailed)
        case .ack, .respond, .fired:
            return .none
        }
    }

    private mutating func end(_ reason: TransactionEffect) -> TransactionEffects {
        state = .terminated
        return TransactionEffects(reason, .terminate)
    }
}
