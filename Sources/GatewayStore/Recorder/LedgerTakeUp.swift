// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Glibc
import Logging
import Synchronization

// The recorder opens a ledger at its start, later if there was none, and again after the file was lost.

extension OutcomeRecorder {
    /// True once a ledger was read; until then updates stay in the ring.
    var isTakenUp: Bool { journal.withLock { $0 != nil } }

    /// Checks the ledger: reads it if that has not happened, and continues with another after the file was lost.
    ///
    /// Call it every few seconds; it blocks on the disk.
    /// - Throws: the reason why there is no ledger.
    func attend() throws {
        guard isTakenUp else { return try takeUp() }
        if database.ledgerFile.isInPlace, (try? database.ledger) != nil {
            guard database.ledgerFile.needsOpening, try !database.ledgerFile.openAgain() else { return }
            return try move()
        }
        if !database.ledgerFile.isInPlace {
            database.ledgerFile.leave()
            log.error(
                """
                the ledger was removed or replaced while herald runs; calls in progress go on in the present or a new \
                file; put the old file back to keep its earlier calls
                """, metadata: ["ledger": "\(database.ledgerFile.path)"])
        }
        report(try database.ledgerFile.openOrReplace())
        try move()
    }

    /// Sets a damaged ledger aside and continues with a new one.
    ///
    /// - Throws: the damage, if that fails.
    func replaceLedger(because damage: HeraldDatabaseError) throws {
        report(try database.ledgerFile.replace(because: damage))
        guard isTakenUp else { return try takeUp() }
        try move()
    }

    /// Reads the ledger and begins to read the ring.
    ///
    /// - Parameter isStart: true if no producer works yet.
    /// - Throws: the reason why there is no ledger, or a database error.
    func takeUp(isStart: Bool = false) throws {
        do {
            if (try? database.ledger) == nil { report(try database.ledgerFile.openOrReplace()) }
            try load(isStart: isStart)
        } catch {
            // A file that opens may have damaged pages inside.
            guard let damage = database.ledgerFile.damage(shownBy: error) else { throw error }
            report(try database.ledgerFile.replace(because: damage))
            try load(isStart: isStart)
        }
    }

    /// Removes the log that earlier versions kept beside the ledger, because it contains numbers of callers.
    private func removeSignalLog() {
        let path = database.folder + "/herald.signals"
        guard unlink(path) == 0 else { return }
        log.notice(
            """
            removed the update log of an earlier version; only after a power cut under that version calls of its \
            last second are lost with it
            """, metadata: ["file": "\(path)"])
    }

    private func load(isStart: Bool) throws {
        try journal.withLock { taken in
            taken = try database.ledger.read { database in
                let state = try LedgerState(
                    database, ringID: ring.ringID, settings.limits)
                // The position in the ledger takes precedence. For an unknown ring the ring's own position is used.
                var journal = LedgerJournal(
                    state, position: state.position ?? ring.released, minter: minter, limits: settings.limits,
                    trunks: trunks.withLock { $0 }, customers: customers.withLock { $0 }, signers: signers)
                if !state.adopted.isEmpty {
                    journal.cluster = ClusterJournal(cluster, adopted: state.adopted, open: state.calls)
                }
                let position = journal.batch.position
                journal.reached(isStart ? ring.resume(after: position) : ring.join(after: position))
                if isStart { journal.inheritedEnd = ring.claimed }
                countOpen(&journal)
                return journal
            }
        }
        removeSignalLog()
        log.debug("the ledger is taken up", metadata: ["ledger": "\(database.ledgerFile.path)"])
    }

    /// Moves calls in progress and the unstored batch to the ledger that is open now.
    private func move() throws {
        try journal.withLock { taken in
            guard var journal = taken else { return }
            let state = try database.ledger.read { database in
                try LedgerState(database, ringID: ring.ringID, settings.limits)
            }
            journal.move(to: state)
            taken = journal
        }
    }

    private func report(_ replaced: SetAsideFile?) {
        guard let replaced else { return }
        log.error(
            """
            the ledger is damaged and was renamed; accounts go on in a new ledger; sqlite3 .recover reads earlier \
            calls of the old one
            """,
            metadata: [
                "ledger": "\(database.ledgerFile.path)", "kept": "\(replaced.kept)", "reason": "\(replaced.damage)",
            ])
    }

    /// Logs that the ledger refuses, with the reason.
    func alarm() {
        log.error(
            "outcomes cannot be stored; calls go on, and the ring keeps their updates until it is full",
            metadata: ["ledger": "\(database.ledgerFile.path)", "error": "\(totals.problem ?? "")"])
    }

    /// Counts a failure and keeps its text; true for another text than before.
    @discardableResult
    func record(failure error: any Error) -> Bool {
        let path = database.ledgerFile.path
        database.ledgerFile.record(refusal: error)
        let refusal = database.ledgerFile.damage(shownBy: error) ?? HeraldDatabaseError(refusal: error, path: path)
        let problem = refusal.map(\.description) ?? "\(error)"
        return shared.withLock { totals in
            totals.failures += 1
            defer { totals.problem = problem }
            return totals.problem != problem
        }
    }
}
