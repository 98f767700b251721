// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Host
import Synchronization

/// The exchange of a recorder with other gateways: updates and steps until their transaction, and its results.
///
/// Safe from any thread; nothing here waits for the recorder.
package final class RecorderCluster: SiblingLedger {
    /// Most waiting updates; a recorder that stores nothing for long takes no more.
    private static let most = 100_000
    /// Age of a membership from which on another gateway may have adopted the calls of this one.
    private static let lease = Duration.seconds(15)
    /// Longest wait for a membership; without PostgreSQL, calls end at their deadlines after it.
    private static let patience = Duration.seconds(30)

    /// Batches in the order of their arrival, numbered from 1.
    private struct Queue<Element> {
        var waiting: [(batch: UInt64, elements: [Element])] = []
        /// Number of the waiting elements.
        var count = 0
        var last: UInt64 = 0
        /// The last batch whose effect is stored, as is that of all before it.
        var stored: UInt64 = 0

        mutating func add(_ elements: [Element]) -> UInt64 {
            last += 1
            count += elements.count
            waiting.append((last, elements))
            return last
        }

        /// Takes the oldest batches: at most `most`, and none after `last`.
        mutating func take(_ most: Int = .max, through last: UInt64 = .max) -> [(batch: UInt64, elements: [Element])] {
            let taken = Array(waiting.prefix(most).prefix { $0.batch <= last })
            waiting.removeFirst(taken.count)
            count -= taken.reduce(0) { $0 + $1.elements.count }
            return taken
        }
    }

    private struct State {
        var updates = Queue<ForeignUpdate>()
        var steps = Queue<Handover>()
        var listener: (@Sendable ([ReportedUpdate]) -> Void)?
        var isExpected = false
        /// Times of the monotonic clock: of the last membership, and of the begin of the present gap.
        var memberAt: Int64?
        var gapSince: Int64?
        var applied = 0
        var handover = HandoverCounts()
        var watched: Set<String> = []
        var redials: [AwaitedRedial] = []
    }

    private let state = Mutex(State())

    // MARK: For the other gateways

    /// Reports every update that the recorder reads from the ring to `listener`, which must not wait.
    ///
    /// The listener runs on the recorder's thread, before the updates are stored: a kill in between repeats the report and
    /// loses none.
    package func onUpdates(_ listener: @escaping @Sendable ([ReportedUpdate]) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Keeps updates without an open call from now on, because their call may move here.
    package func expectHandovers() { state.withLock { $0.isExpected = true } }

    /// Queues updates of a sibling for the next transaction.
    package func take(_ updates: [ForeignUpdate]) -> UInt64? {
        state.withLock { $0.updates.count + updates.count > Self.most ? nil : $0.updates.add(updates) }
    }

    /// Queues steps for the next transactions, a batch in each; returns the number of the batch.
    package func take(_ steps: [Handover]) -> UInt64 { state.withLock { $0.steps.add(steps) } }

    /// Reports that the shared ledger has this gateway as a living one, after the steps that follow from it.
    package func isMember() {
        state.withLock { ($0.memberAt, $0.gapSince) = (SteadyClock.microseconds, nil) }
    }

    /// The number of the last batch of a sibling whose effect is stored.
    package var storedBatch: UInt64 { state.withLock { $0.updates.stored } }
    /// Updates of siblings that belonged to an open call, since the start.
    package var appliedForeign: Int { state.withLock { $0.applied } }
    /// The number of the last batch of steps whose effect is stored.
    package var storedHandovers: UInt64 { state.withLock { $0.steps.stored } }
    /// Calls and events that have moved.
    package var handovers: HandoverCounts { state.withLock { $0.handover } }
    /// Identifiers of calls that may end at another gateway: adopted ones in progress, and own ones that are away.
    package var watchedCalls: Set<String> { state.withLock { $0.watched } }
    /// The failed calls that wait for another attempt, as stored.
    package var awaitedRedials: [AwaitedRedial] { state.withLock { $0.redials } }

    // MARK: For the recorder

    /// Whether the ring waits for the reports of siblings after a pause of the process.
    ///
    /// A message that waited in a socket has the time of the reading. A sibling that got a repetition forwarded it long
    /// before, and updates of one call are applied in the order of their times.
    func awaitsReports(after pause: ProcessPause, at now: Int64) -> Bool {
        pause.isRecent(at: now) && state.withLock { $0.listener != nil }
    }

    /// Begins a look at the ring or a transaction; the journal of a gateway in a cluster gets its part for that.
    ///
    /// Called before the end of the ring is read: the INVITE of each update that has arrived is in the ring by then.
    func begin(_ journal: inout LedgerJournal, isShared: Bool) {
        let state = state.withLock { ($0.updates.last, $0.steps.last, $0.listener != nil, $0.isExpected) }
        let (updates, steps, hasSiblings, isExpected) = state
        if journal.cluster == nil, hasSiblings || isExpected || isShared || updates > 0 || steps > 0 {
            journal.cluster = ClusterJournal(self)
        }
        journal.cluster?.begin(arrived: updates, hasSiblings: hasSiblings, isShared: isShared, adopts: isExpected)
    }

    /// Takes the updates of the batches up to a number.
    func updates(through batch: UInt64) -> [ForeignUpdate] {
        state.withLock { $0.updates.take(through: batch) }.flatMap(\.elements)
    }

    /// Takes the next batch of steps; one for each transaction, so that none is long.
    func nextSteps() -> (batch: UInt64, elements: [Handover])? { state.withLock { $0.steps.take(1) }.first }

    /// Whether calls may end by their deadlines.
    ///
    /// A gateway that was stopped or cut off first finds out which calls another one has ended.
    func mayAssumeEnds(now: Int64) -> Bool {
        state.withLock { state in
            guard state.isExpected else { return true }
            // A step that waits may have the end of a call.
            guard state.steps.waiting.allSatisfy({ $0.elements.allSatisfy(\.isOfRedial) }) else { return false }
            if let memberAt = state.memberAt, .microseconds(now - memberAt) < Self.lease { return true }
            let since = state.gapSince ?? now
            state.gapSince = since
            return .microseconds(now - since) >= Self.patience
        }
    }

    /// Hands updates to the siblings.
    func report(_ updates: [ReportedUpdate]) {
        guard !updates.isEmpty, let listener = state.withLock({ $0.listener }) else { return }
        listener(updates)
    }

    /// Records that the effect of all batches that the journal has applied is stored.
    ///
    /// - Parameter redials: the failed calls that wait for another attempt at any gateway.
    func haveStored(_ foreign: ForeignJournal, _ handover: HandoverJournal, _ redials: [AwaitedRedial]) {
        let (counts, watched) = (handover.counts, handover.watched)
        state.withLock { state in
            (state.updates.stored, state.applied) = (foreign.batch, foreign.applied)
            (state.steps.stored, state.handover) = (handover.batch, counts)
            (state.watched, state.redials) = (watched, redials)
        }
    }
}
