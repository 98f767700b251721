// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import HostSystem
import Synchronization

// Calls and events that move between the gateways of a cluster.

extension OutcomeRecorder: HandoverLedger, RedialLedger {
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
    package var awaitedRedials: [AwaitedRedial] { moves.redials }
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
