// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import HostSystem
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

    func expect() { state.withLock { $0.isExpected = true } }

    func isMember(now: Int64) { state.withLock { ($0.memberAt, $0.gapSince) = (now, nil) } }

    /// Whether calls may end by their deadlines.
    ///
    /// A gateway that was stopped or cut off first finds out which calls another one has ended.
    func mayAssume(now: Int64) -> Bool {
        state.withLock { state in
            guard state.isExpected else { return true }
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

    /// Records that the effect of the applied batches is stored.
    func haveStored(_ journal: inout LedgerJournal) {
        let (batch, counts) = (journal.handover.batch, journal.handover.counts)
        let watched = journal.handover.isChanged ? journal.handover.watched : nil
        journal.handover.isChanged = false
        state.withLock { state in
            state.stored = max(state.stored, batch)
            state.counts = counts
            if let watched { state.watched = watched }
        }
    }
}

extension OutcomeRecorder: HandoverLedger {
    /// Keeps updates without an open call from now on, because their call may move here.
    package func expectHandovers() {
        moves.expect()
        journal.withLock { journal in
            guard var taken = journal.take() else { return }
            taken.handover.kept = taken.handover.kept ?? KeptUpdates()
            journal = taken
        }
    }

    package func isMember() { moves.isMember(now: SteadyClock.microseconds) }
    package func take(_ steps: [Handover]) -> UInt64 { moves.add(steps) }
    package var storedHandovers: UInt64 { moves.stored }
    package var watchedCalls: Set<String> { moves.watched }
    package var handovers: HandoverCounts { moves.counts }
}
