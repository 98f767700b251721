// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The calls that have begun and not ended, for limits per trunk and for draining.
///
/// Kept in shards, each under a lock held for some stores. About 40 bytes a call; past the capacity calls go uncounted
/// rather than memory growing. Only this process's calls are known: after a restart counting begins anew. Any thread.
package final class CallsInProgress: Sendable {
    private struct Entry {
        /// Nil for calls that count for no trunk.
        let trunk: TrunkCalls?
        /// Monotonic seconds.
        let began: UInt32
    }

    private final class Shard: Sendable {
        let calls = Mutex<[CallIdentifier: Entry]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }
    private let total = Atomic<Int>(0)
    private let capacity: Int

    /// Makes an empty table for at most `capacity` calls.
    package init(capacity: Int = 1_000_000) { self.capacity = capacity }

    /// Calls in progress.
    package var count: Int { total.load(ordering: .relaxed) }

    /// Counts a call that begins at a monotonic time in milliseconds; one that is known already stays as it is.
    ///
    /// - Returns: false for one that is known already.
    @discardableResult
    package func begin(_ call: CallIdentifier, on trunk: TrunkCalls?, at milliseconds: UInt64) -> Bool {
        guard count < capacity else { return true }
        let entry = Entry(trunk: trunk, began: UInt32(truncatingIfNeeded: milliseconds / 1000))
        let isNew = shard(of: call).calls.withLock { calls in
            guard calls[call] == nil else { return false }
            calls[call] = entry
            return true
        }
        if isNew { add(1, trunk) }
        return isNew
    }

    /// Counts a call that has ended; one that is not known means nothing.
    package func end(_ call: CallIdentifier) {
        if let entry = shard(of: call).calls.withLock({ $0.removeValue(forKey: call) }) { add(-1, entry.trunk) }
    }

    /// Ends the call a BYE names, or the other one it may name when its direction is not known.
    package func end(either call: CallIdentifier, or other: CallIdentifier?) {
        end(call)
        if let other { end(other) }
    }

    /// Ends the calls of one shard that began before a time: their BYE never came.
    ///
    /// - Parameter turn: a number that grows by one each time; 64 turns look at all calls.
    /// - Returns: how many were ended.
    @discardableResult
    package func expire(turn: Int, startedBefore milliseconds: UInt64) -> Int {
        let limit = UInt32(truncatingIfNeeded: milliseconds / 1000)
        let shard = shards[abs(turn) % shards.count]
        let gone = shard.calls.withLock { calls in
            let gone = calls.filter { $0.value.began < limit }
            for call in gone.keys { calls[call] = nil }
            return gone.map(\.value.trunk)
        }
        for trunk in gone { add(-1, trunk) }
        return gone.count
    }

    private func shard(of call: CallIdentifier) -> Shard { shards[Int(call.low % UInt64(shards.count))] }

    private func add(_ difference: Int, _ trunk: TrunkCalls?) {
        total.add(difference, ordering: .relaxed)
        trunk?.add(difference)
    }
}

/// How many calls of one trunk are in progress; the same object after a reload.
///
/// Any thread.
package final class TrunkCalls: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    package var count: Int { value.load(ordering: .relaxed) }

    fileprivate func add(_ difference: Int) { value.add(difference, ordering: .relaxed) }
}
