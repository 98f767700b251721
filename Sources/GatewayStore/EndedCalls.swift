// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The calls that ended lately: a late repetition of their INVITE begins no new call.
///
/// Held in the order they were told of, so that forgetting some asks none of those that stay. Some 50 bytes a call. One thread.
struct EndedCalls {
    private var names: Set<CallIdentifier> = []
    private var order: [(name: CallIdentifier, endedAt: Int64)] = []
    /// How many of `order` were there when it was last looked at, and when that was.
    private var (seen, lastLook) = (0, Int64.min)

    /// Begins with calls and when they ended, in microseconds since 1970.
    init(_ ended: [CallIdentifier: Int64]) {
        names = Set(ended.keys)
        order = ended.sorted { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    /// Whether a call is one of them.
    func contains(_ name: CallIdentifier) -> Bool { names.contains(name) }

    /// Adds a call that ended at a time, in microseconds since 1970.
    mutating func note(_ name: CallIdentifier, endedAt: Int64) {
        if names.insert(name).inserted { order.append((name, endedAt)) }
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
        for call in old { names.remove(call.name) }
        order.removeFirst(old.count)
        (seen, lastLook) = (order.count, now)
    }
}
