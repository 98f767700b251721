// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Logging
import Synchronization

// The exchange with the siblings of a cluster.

extension OutcomeRecorder: SiblingLedger {
    /// Reports every update that the recorder reads from the ring to `listener`, which must not wait.
    ///
    /// The listener runs on the recorder's thread, before the updates are stored: a kill in between repeats the report and
    /// loses none.
    package func onUpdates(_ listener: @escaping @Sendable ([ReportedUpdate]) -> Void) {
        updateListener.withLock { $0 = listener }
        journal.withLock { $0?.reported = [] }
    }

    /// Queues updates of a sibling for the next transaction.
    package func take(_ updates: [ForeignUpdate]) -> UInt64? { foreign.add(updates) }

    /// The number of the last batch of a sibling whose effect is stored.
    package var storedBatch: UInt64 { foreign.storedBatch }

    /// Updates of siblings that belonged to an open call, since the start.
    package var appliedForeign: Int { foreign.applied }

    /// Hands the updates that the journal has applied to the listener.
    func reportUpdates(of journal: inout LedgerJournal) {
        guard let listener = updateListener.withLock({ $0 }) else { return }
        let updates = journal.reported ?? []
        journal.reported = []
        if !updates.isEmpty { listener(updates) }
    }

    /// Corrects calls that have ended by what other gateways have reported since.
    ///
    /// - Parameter now: microseconds since 1970.
    func correctEnded(_ journal: inout LedgerJournal, now: Int64) throws {
        let reports = journal.foreign.lateReports(now: now)
        guard !reports.isEmpty else { return }
        do {
            let corrections = try database.ledger.read { try LateReports($0).corrections(by: reports) }
            journal.foreign.lookedFor(reports, now: now)
            for correction in corrections { journal.correct(correction.call, to: correction.record) }
            guard !corrections.isEmpty else { return }
            shared.withLock { $0.corrected += corrections.count }
            log.notice(
                "calls that had ended were corrected by messages that another gateway reported late",
                metadata: ["calls": "\(corrections.count)"])
        } catch {
            journal.refused()
            throw error
        }
    }

    /// Records that the effect of all taken batches is stored.
    func foreignStored(_ journal: inout LedgerJournal) {
        guard journal.foreign.batch > foreign.storedBatch else { return }
        foreign.haveStored(through: journal.foreign.batch, applied: journal.foreign.applied)
        journal.foreign.applied = 0
    }
}
