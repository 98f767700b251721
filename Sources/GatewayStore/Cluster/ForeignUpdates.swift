// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Synchronization

/// Updates that sibling gateways report, between their arrival and the next transaction of the recorder.
final class ForeignUpdates: Sendable {
    /// Most waiting updates; a recorder that stores nothing for long takes no more.
    private static let most = 100_000

    private struct State {
        var waiting: [(batch: UInt64, updates: [ForeignUpdate])] = []
        var count = 0
        /// Batches taken in.
        var batch: UInt64 = 0
        /// Updates that belonged to an open call.
        var applied = 0
    }

    private let state = Mutex(State())
    private let stored = Atomic<UInt64>(0)

    var storedBatch: UInt64 { stored.load(ordering: .acquiring) }
    var applied: Int { state.withLock { $0.applied } }
    /// The number of the last batch that has arrived.
    var arrived: UInt64 { state.withLock { $0.batch } }

    func add(_ updates: [ForeignUpdate]) -> UInt64? {
        state.withLock { state in
            guard state.count + updates.count <= Self.most else { return nil }
            state.batch += 1
            state.count += updates.count
            state.waiting.append((state.batch, updates))
            return state.batch
        }
    }

    /// Takes the batches up to a number.
    func take(through batch: UInt64) -> [ForeignUpdate] {
        state.withLock { state in
            let taken = state.waiting.prefix { $0.batch <= batch }.flatMap(\.updates)
            state.waiting.removeAll { $0.batch <= batch }
            state.count -= taken.count
            return taken
        }
    }

    /// Records that the effect of a batch and of all before it is stored.
    func haveStored(through batch: UInt64, applied count: Int) {
        stored.store(batch, ordering: .releasing)
        if count > 0 { state.withLock { $0.applied += count } }
    }
}
