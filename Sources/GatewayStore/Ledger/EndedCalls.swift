// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// The recently ended calls: a late retransmission of their INVITE begins no new call.
///
/// A proxy that asks one destination after the other (RFC 3261 §16.5) uses one identifier, so a call is known by
/// identifier and destination. The calls are in the order of arrival, so that forgetting reads only the oldest. Some 80
/// bytes a call. One thread.
struct EndedCalls {
    /// An ended call.
    struct Call {
        let name: CallIdentifier
        /// The destination; empty if unknown.
        fileprivate let called: Destination
        /// Microseconds since 1970.
        fileprivate(set) var endedAt: Int64
        /// Its row in the ledger.
        fileprivate let row: Int64

        init(_ name: CallIdentifier, to called: String, endedAt: Int64, row: Int64) {
            (self.name, self.endedAt, self.row) = (name, endedAt, row)
            self.called = Destination(called)
        }
    }

    /// A destination by its hash, with a seed that no sender knows.
    fileprivate struct Destination: Hashable {
        private let value: Int

        init(_ called: String) { value = called.hashValue }
    }

    /// The calls of one identifier.
    private struct Known {
        /// The destination of the first call.
        var first: Destination
        /// Destinations of further calls, which few identifiers have.
        var further: Set<Destination> = []
        /// The row of the last call.
        var row: Int64

        func contains(_ called: Destination) -> Bool { first == called || further.contains(called) }
    }

    private var known: [CallIdentifier: Known] = [:]
    private var order: [Call] = []
    /// The length of `order` at the last look, and the time of that look.
    private var (seen, lastLook) = (0, Int64.min)

    /// Begins with calls in any order.
    init(_ ended: [Call]) {
        for call in ended.sorted(by: { $0.endedAt < $1.endedAt }) { add(call) }
    }

    /// Whether a call with that identifier has ended recently.
    func contains(_ name: CallIdentifier) -> Bool { known[name] != nil }

    /// The row of the last call with that identifier; nil if none has ended recently.
    func row(of name: CallIdentifier) -> Int64? { known[name]?.row }

    /// Whether a call with that identifier and destination has ended recently; an unknown destination fits any.
    func contains(_ name: CallIdentifier, to called: String) -> Bool {
        known[name].map { called.isEmpty || $0.contains(Destination(called)) } ?? false
    }

    /// Adds a call that ended at a time, in microseconds since 1970.
    mutating func add(_ name: CallIdentifier, to called: String, endedAt: Int64, row: Int64) {
        add(Call(name, to: called, endedAt: endedAt, row: row))
    }

    /// Shifts all times by a step of the wall clock, in microseconds.
    mutating func clockWasSet(by step: Int64) {
        for place in order.indices { order[place].endedAt &+= step }
    }

    /// Forgets calls whose INVITE cannot be retransmitted any more at `now`, microseconds since 1970.
    ///
    /// A call that ended before an earlier entry may stay as long as that entry.
    mutating func forget(at now: Int64) {
        // A call that ended "in the future", before a step back of the clock, waits as long as one that ends now.
        for place in (now < lastLook ? 0 : seen)..<order.count { order[place].endedAt = min(order[place].endedAt, now) }
        let old = order.prefix { now - $0.endedAt >= CallStateMachine.Limits.repetition }
        for call in old { forget(call) }
        order.removeFirst(old.count)
        (seen, lastLook) = (order.count, now)
    }

    private mutating func add(_ call: Call) {
        guard var calls = known[call.name] else {
            known[call.name] = Known(first: call.called, row: call.row)
            order.append(call)
            return
        }
        calls.row = call.row
        // A call that ended twice is known as long as its earlier entry.
        if !calls.contains(call.called) {
            calls.further.insert(call.called)
            order.append(call)
        }
        known[call.name] = calls
    }

    private mutating func forget(_ call: Call) {
        guard var calls = known[call.name] else { return }
        if calls.first != call.called {
            calls.further.remove(call.called)
        } else if let next = calls.further.popFirst() {
            calls.first = next
        } else {
            known[call.name] = nil
            return
        }
        known[call.name] = calls
    }
}
