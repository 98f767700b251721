// SPDX-License-Identifier: Apache-2.0

/// One action that a transaction of RFC 3261 §17 asks of its owner.
///
/// The owner keeps the bytes: the request, the last response it was asked to send, the ACK and the CANCEL it builds.
public enum TransactionEffect: Hashable, Sendable {
    /// Send the request for the first time.
    case sendRequest
    /// Send the same request bytes again to the same place.
    case resendRequest
    /// Send the ACK of a final response that is not 2xx, on this hop, with the branch of the INVITE (§17.1.1.3).
    case sendAck
    /// Send a CANCEL for this INVITE as a transaction of its own, with the branch of the INVITE (§9.1).
    case sendCancel
    /// Send a 100 and keep it as the response to resend.
    case sendTrying
    /// Send the response whose status was just given, and keep it as the response to resend.
    case sendResponse
    /// Send the response kept last once more.
    case resendResponse
    /// Give the new request to the proxy core.
    case deliverRequest
    /// Give the ACK of a 2xx to the proxy core, which forwards it.
    case deliverAck
    /// Give the response just received to the proxy core.
    case deliverResponse
    /// Report a timeout to the proxy core, which counts as a 408 of the target (§8.1.3.1, §16.8).
    case timeout
    /// Report a transport failure to the proxy core, which counts as a 503 of the target (§8.1.3.1, §16.9).
    case transportFailed
    /// Start the timer, or start it anew if it runs.
    case start(TransactionTimer, after: TimerDelay)
    /// Stop those of these timers that run.
    case stop(TimerSet)
    /// Forget the transaction and stop every timer it still has.
    case terminate
}

/// The effects of one event: at most six, in the order to perform them.
///
/// Held inline, so that an event allocates nothing.
public struct TransactionEffects: Sendable, Sequence, IteratorProtocol {
    /// Nothing to do: the event was absorbed.
    static var none: TransactionEffects { TransactionEffects() }

    private let effects: InlineArray<6, TransactionEffect?>
    private var position = 0

    /// Takes the effects in order and leaves out what is nil.
    init(
        _ first: TransactionEffect? = nil, _ second: TransactionEffect? = nil, _ third: TransactionEffect? = nil,
        _ fourth: TransactionEffect? = nil, _ fifth: TransactionEffect? = nil, _ sixth: TransactionEffect? = nil
    ) {
        effects = [first, second, third, fourth, fifth, sixth]
    }

    /// Gives the next effect in the order to perform them, or nil when all were given.
    public mutating func next() -> TransactionEffect? {
        while position < effects.count {
            defer { position += 1 }
            if let effect = effects[position] { return effect }
        }
        return nil
    }

    /// Whether the event was absorbed.
    public var isEmpty: Bool { !contains { _ in true } }
}
