// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Synchronization

/// Steps that move calls and events between gateways, between their arrival and the transaction that stores them.
final class PendingHandovers: Sendable {
    private struct State {
        var waiting: [(batch: UInt64, steps: [Handover])] = []
        var batch: UInt64 = 0
        var stored: UInt64 = 0
        var watched: Set<String> = []
        var counts = HandoverCounts()
        var isExpected = false
        var redials: [AwaitedRedial] = []
        /// Times of the monotonic clock: of the last membership, and of the begin of the present gap.
        var memberAt: Int64?
        var gapSince: Int64?
    }

    /// Age of a membership from which on another gateway may have adopted the calls of this one.
    private static let lease = Duration.seconds(15)
    /// Longest wait for a membership; without PostgreSQL, calls end at their deadlines after it.
    private static let patience = Duration.seconds(30)

    private let state = Mutex(State())

    var stored: UInt64 { state.withLock { $0.stored } }
    var watched: Set<String> { state.withLock { $0.watched } }
    var counts: HandoverCounts { state.withLock { $0.counts } }
    /// Whether this gateway adopts calls.
    var isExpected: Bool { state.withLock { $0.isExpected } }

    /// Failed calls that wait for another attempt.
    var redials: [AwaitedRedial] {
        get { state.withLock { $0.redials } }
        set { state.withLock { $0.redials = newValue } }
    }

    func expect() { state.withLock { $0.isExpected = true } }

    func isMember(now: Int64) { state.withLock { ($0.memberAt, $0.gapSince) = (now, nil) } }

    /// Whether calls may end by their deadlines.
    ///
    /// A gateway that was stopped or cut off first finds out which calls another one has ended.
    func mayAssume(now: Int64) -> Bool {
        state.withLock { state in
            guard state.isExpected else { return true }
            // A step that waits may have the end of a call.
            guard !state.waiting.contains(where: { $0.steps.contains { !$0.isOfRedial } }) else { return false }
            if let memberAt = state.memberAt, .microseconds(now - memberAt) < Self.lease { return true }
            let since = state.gapSince ?? now
            state.gapSince = since
            return .microseconds(now - since) >= Self.patience
        }
    }

    func add(_ steps: [Handover]) -> UInt64 {
        state.withLock { state in
            state.batch += 1
            state.waiting.append((state.batch, steps))
            return state.batch
        }
    }

    /// Takes the next batch; one for each transaction, so that none is long.
    func next() -> (steps: [Handover], batch: UInt64)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let first = state.waiting.removeFirst()
            return (first.steps, first.batch)
        }
    }

    /// Records that the effect of the batches up to one is stored.
    ///
    /// - Parameter watched: the calls that may end elsewhere; nil if they are the same as before.
    func haveStored(through batch: UInt64, _ counts: HandoverCounts, watched: Set<String>?) {
        state.withLock { state in
            state.stored = max(state.stored, batch)
            state.counts = counts
            if let watched { state.watched = watched }
        }
    }
}
