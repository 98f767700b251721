// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts wrong admin keys by address, and sets the delay of each response.
///
/// A valid key is never delayed. Behind a reverse proxy all requests have one address, and guesses there must not lock
/// the operator out. Keys have 256 bits; the delay protects the log, and keys that leaked in part.
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
    /// Seconds without a wrong key after which the count of an address is reset.
    private static let forgotten: Int64 = 900

    private let state = Mutex(State())

    /// Counts one; `now` is seconds since 1970.
    ///
    /// - Returns: the recent count of the address, and the delay of this response.
    func add(_ address: String, now: Int64) -> (count: Int, delay: Duration) {
        state.withLock { state in
            if state.entries[address] == nil, state.entries.count >= Self.addresses {
                state.entries = state.entries.filter { now - $0.value.last < Self.forgotten }
                // All entries are recent: a flood from many addresses, which share one count from here on.
                if state.entries.count >= Self.addresses {
                    return Self.count(&state.entries["", default: Entry()], now)
                }
            }
            return Self.count(&state.entries[address, default: Entry()], now)
        }
    }

    /// Begins a delay; false when too many responses are delayed already.
    func enter() -> Bool {
        state.withLock { state in
            guard state.waiting < Self.waiting else { return false }
            state.waiting += 1
            return true
        }
    }

    /// Ends a delay that `enter` began.
    func leave() { state.withLock { $0.waiting -= 1 } }

    private static func count(_ entry: inout Entry, _ now: Int64) -> (Int, Duration) {
        if now - entry.last >= forgotten { entry.count = 0 }
        entry.count += 1
        entry.last = now
        return (entry.count, .milliseconds(min(250 << min(entry.count - 1, 5), 8000)))
    }
}
