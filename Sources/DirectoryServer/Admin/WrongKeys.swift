// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts wrong admin keys by the address they came from, and says how late each is to be answered.
///
/// A good key never waits: behind a reverse proxy all come from one address, and whoever guesses there must not be able to
/// lock the operator out. Keys have 256 bits; being slow is for the log and for keys that leaked in part.
final class WrongKeys: Sendable {
    private struct Entry {
        var count = 0
        var last: Int64 = 0
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var waiting = 0
    }

    private static let addresses = 1024
    private static let waiting = 64
    /// Seconds without a wrong key after which an address begins anew.
    private static let forgotten: Int64 = 900

    private let state = Mutex(State())

    /// Counts one; `now` is seconds since 1970.
    ///
    /// - Returns: how many came from the address lately, and how long this one is to wait.
    func note(_ address: String, now: Int64) -> (count: Int, delay: Duration) {
        state.withLock { state in
            if state.entries[address] == nil, state.entries.count >= Self.addresses {
                state.entries = state.entries.filter { now - $0.value.last < Self.forgotten }
                // All are recent: a flood from many addresses, which share one count from here on.
                if state.entries.count >= Self.addresses {
                    return Self.count(&state.entries["", default: Entry()], now)
                }
            }
            return Self.count(&state.entries[address, default: Entry()], now)
        }
    }

    /// Lets an answer wait; false when so many wait that this one must not.
    func enter() -> Bool {
        state.withLock { state in
            guard state.waiting < Self.waiting else { return false }
            state.waiting += 1
            return true
        }
    }

    /// Ends a wait that `enter` allowed.
    func leave() { state.withLock { $0.waiting -= 1 } }

    private static func count(_ entry: inout Entry, _ now: Int64) -> (Int, Duration) {
        if now - entry.last >= forgotten { entry.count = 0 }
        entry.count += 1
        entry.last = now
        return (entry.count, .milliseconds(min(250 << min(entry.count - 1, 5), 8000)))
    }
}
