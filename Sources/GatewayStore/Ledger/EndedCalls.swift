// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// The calls that ended lately: a late repetition of their INVITE begins no new call.
///
/// A proxy that asks one destination after the other (RFC 3261 §16.5) does so under one name, so a call is known by its name
/// and whom it was to. Held in the order they were told of, so that forgetting some asks none of those that stay. Some 80
/// bytes a call. One thread.
struct EndedCalls {
    /// One of them.
    struct Call {
        let name: CallIdentifier
        /// Whom it was to, empty where nobody knows.
        fileprivate let called: Destination
        /// Microseconds since 1970.
        fileprivate(set) var endedAt: Int64

        init(_ name: CallIdentifier, to called: String, endedAt: Int64) {
            (self.name, self.endedAt) = (name, endedAt)
            self.called = Destination(called)
        }
    }

    /// A destination by its hash, which no sender can foresee: the seed is this process's own.
    fileprivate struct Destination: Hashable {
        private let value: Int

        init(_ called: String) { value = called.hashValue }
    }

    /// The destination of the first call of each name.
    private var first: [CallIdentifier: Destination] = [:]
    /// Those of further ones, which few names have.
    private var further: [CallIdentifier: Set<Destination>] = [:]
    private var order: [Call] = []
    /// How many of `order` were there when it was last looked at, and when that was.
    private var (seen, lastLook) = (0, Int64.min)

    /// Begins with calls in any order.
    init(_ ended: [Call]) {
        for call in ended.sorted(by: { $0.endedAt < $1.endedAt }) { note(call) }
    }

    /// Whether a call of that name is one of them.
    func contains(_ name: CallIdentifier) -> Bool { first[name] != nil }

    /// Whether the call of that name to that destination is one of them; any of the name where it is not known.
    func contains(_ name: CallIdentifier, to called: String) -> Bool {
        called.isEmpty ? contains(name) : contains(name, Destination(called))
    }

    private func contains(_ name: CallIdentifier, _ called: Destination) -> Bool {
        first[name] == called || further[name]?.contains(called) == true
    }

    /// Adds a call that ended at a time, in microseconds since 1970.
    mutating func note(_ name: CallIdentifier, to called: String, endedAt: Int64) {
        note(Call(name, to: called, endedAt: endedAt))
    }

    /// Goes on by a wall clock that was set, by so many microseconds.
    mutating func clockWasSet(by step: Int64) {
        for place in order.indices { order[place].endedAt &+= step }
    }

    /// Forgets those whose INVITE cannot be repeated any more at `now`, microseconds since 1970.
    ///
    /// One that ended earlier than another told of before it may stay as long as that one.
    mutating func forget(at now: Int64) {
        // What ended "in the future", before the clock was set back, waits as long as what ends now.
        for place in (now < lastLook ? 0 : seen)..<order.count { order[place].endedAt = min(order[place].endedAt, now) }
        let old = order.prefix { now - $0.endedAt >= OutcomeMachine.Limits.repetition }
        for call in old { forget(call) }
        order.removeFirst(old.count)
        (seen, lastLook) = (order.count, now)
    }

    private mutating func note(_ call: Call) {
        // One that ended, was called again and ended again is known for as long as the earlier one.
        guard !contains(call.name, call.called) else { return }
        order.append(call)
        if first[call.name] == nil {
            first[call.name] = call.called
        } else {
            further[call.name, default: []].insert(call.called)
        }
    }

    private mutating func forget(_ call: Call) {
        guard first[call.name] == call.called else {
            take(call.called, outOf: call.name)
            return
        }
        first[call.name] = further[call.name]?.first
        if let next = first[call.name] { take(next, outOf: call.name) }
    }

    private mutating func take(_ called: Destination, outOf name: CallIdentifier) {
        further[name]?.remove(called)
        if further[name]?.isEmpty == true { further[name] = nil }
    }
}
