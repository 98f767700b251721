// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The calls that ended lately: a late repetition of their INVITE begins no new call.
///
/// A proxy that asks one destination after the other (RFC 3261 §16.5) does so under one name, so a call is known by its name
/// and whom it was to. Held in the order they were told of, so that forgetting some asks none of those that stay. Some 100
/// bytes a call. One thread.
struct EndedCalls {
    /// One of them.
    struct Call {
        let name: CallIdentifier
        /// Name and destination in one; the name where the destination is not known.
        fileprivate let whole: CallIdentifier
        /// Microseconds since 1970.
        fileprivate(set) var endedAt: Int64

        init(_ name: CallIdentifier, to called: String, endedAt: Int64) {
            (self.name, self.endedAt) = (name, endedAt)
            whole = EndedCalls.whole(name, called)
        }
    }

    /// How many calls of `order` are known by each.
    private var names: [CallIdentifier: Int] = [:]
    private var order: [Call] = []
    /// How many of `order` were there when it was last looked at, and when that was.
    private var (seen, lastLook) = (0, Int64.min)

    /// Begins with calls in any order.
    init(_ ended: [Call]) {
        for call in ended.sorted(by: { $0.endedAt < $1.endedAt }) { note(call) }
    }

    /// Whether a call of that name is one of them.
    func contains(_ name: CallIdentifier) -> Bool { names[name] != nil }

    /// Whether the call of that name to that destination is one of them; any of the name where it is not known.
    func contains(_ name: CallIdentifier, to called: String) -> Bool { names[Self.whole(name, called)] != nil }

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
        for call in old {
            forget(call.name)
            if call.whole != call.name { forget(call.whole) }
        }
        order.removeFirst(old.count)
        (seen, lastLook) = (order.count, now)
    }

    private static func whole(_ name: CallIdentifier, _ called: String) -> CallIdentifier {
        called.isEmpty ? name : name.toward(called)
    }

    private mutating func note(_ call: Call) {
        // One that ended, was called again and ended again is known for as long as the earlier one.
        guard names[call.whole] == nil || call.whole == call.name else { return }
        order.append(call)
        names[call.name, default: 0] += 1
        if call.whole != call.name { names[call.whole, default: 0] += 1 }
    }

    private mutating func forget(_ name: CallIdentifier) {
        guard let count = names[name] else { return }
        names[name] = count > 1 ? count - 1 : nil
    }
}
