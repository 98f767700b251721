// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Host
import Synchronization

// Calls and events that move between the gateways of a cluster.

extension OutcomeRecorder {
    /// Keeps updates without an open call from now on, because their call may move here.
    package func expectHandovers() {
        moves.expect()
        journal.withLock { journal in
            guard var taken = journal.take() else { return }
            taken.handover.kept = taken.handover.kept ?? KeptUpdates()
            journal = taken
        }
    }

    /// Reports that the shared ledger has this gateway as a living one, after the steps that follow from it.
    package func isMember() { moves.isMember(now: SteadyClock.microseconds) }
    /// Queues steps for the next transactions; returns the number of the batch.
    package func take(_ steps: [Handover]) -> UInt64 { moves.add(steps) }
    /// The number of the last batch whose effect is stored.
    package var storedHandovers: UInt64 { moves.stored }
    /// Identifiers of calls that may end at another gateway: adopted ones in progress, and own ones that are away.
    package var watchedCalls: Set<String> { moves.watched }
    /// The failed calls that wait for another attempt, as stored.
    package var awaitedRedials: [AwaitedRedial] { moves.redials }
    /// Calls and events that have moved.
    package var handovers: HandoverCounts { moves.counts }

    /// Records that the effect of all applied batches is stored.
    func handoversStored(_ journal: inout LedgerJournal) {
        let handover = journal.handover
        moves.haveStored(
            through: handover.batch, handover.counts, watched: handover.isChanged ? handover.watched : nil)
        journal.handover.isChanged = false
        guard journal.isShared, journal.redials.isChanged else { return }
        moves.redials = journal.awaitedRedials
        journal.redials.isChanged = false
    }
}
