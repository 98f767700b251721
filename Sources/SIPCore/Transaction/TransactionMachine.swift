// SPDX-License-Identifier: Apache-2.0

/// A state machine of RFC 3261 §17: events go in, effects come out.
///
/// The four machines conform, so that one table checks each of them and one piece of code drives them.
public protocol TransactionMachine: Sendable {
    associatedtype State: Hashable & Sendable
    associatedtype Event: Hashable & Sendable

    /// Makes the machine in its first state.
    ///
    /// - Parameter isReliable: whether its messages go over TCP, TLS or another transport that loses nothing.
    init(timers: TransactionTimers, isReliable: Bool)
    /// The present state.
    var state: State { get }
    /// True once nothing follows any more.
    var isTerminated: Bool { get }
    /// Gives the effects with which the transaction begins.
    mutating func start() -> TransactionEffects
    /// Takes one event to the next state and gives its effects.
    mutating func receive(_ event: Event) -> TransactionEffects
}
