// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Glibc
import Logging
import Synchronization

// How the recorder comes by a ledger: at its start, later where there was none, and anew where the file was lost.

extension OutcomeRecorder {
    /// True once a ledger was read; until then signals stay in the ring.
    var isTakenUp: Bool { journal.withLock { $0 != nil } }

    /// Looks after the ledger: takes it up where that is still to be done, and goes on with another where the file is gone.
    ///
    /// To be called every few seconds; blocks on the disk.
    /// - Throws: why there is no ledger.
    func attend() throws {
        guard isTakenUp else { return try takeUp() }
        if database.ledgerFile.isInPlace, (try? database.ledger) != nil { return }
        if !database.ledgerFile.isInPlace {
            database.ledgerFile.leave()
            log.error(
                """
                the ledger was removed or replaced while herald runs; calls in progress go on in the one that is there now, or \
                in a new one; what it held of earlier calls is gone unless its file is put back
                """, metadata: ["ledger": "\(database.ledgerFile.path)"])
        }
        report(try database.ledgerFile.openOrReplace())
        try move()
    }

    /// Sets the ledger aside because it is damaged, and goes on with a new one.
    ///
    /// - Throws: the damage, where that cannot be done.
    func replaceLedger(because damage: HeraldDatabaseError) throws {
        report(try database.ledgerFile.replace(because: damage))
        guard isTakenUp else { return try takeUp() }
        try move()
    }

    /// Reads the ledger and begins to take signals.
    ///
    /// - Parameter isStart: no producer is at work yet.
    /// - Throws: why there is no ledger, or a database error.
    func takeUp(isStart: Bool = false) throws {
        do {
            if (try? database.ledger) == nil { report(try database.ledgerFile.openOrReplace()) }
            try load(isStart: isStart)
        } catch {
            // Pages inside may be damaged where the file opens well.
            guard let damage = database.ledgerFile.damage(shownBy: error) else { throw error }
            report(try database.ledgerFile.replace(because: damage))
            try load(isStart: isStart)
        }
    }

    /// Removes the signal log that earlier versions kept beside the ledger: it holds numbers of callers.
    private func removeSignalLog() {
        let path = database.folder + "/herald.signals"
        guard unlink(path) == 0 else { return }
        log.notice(
            """
            the signal log of an earlier version was removed; only a power cut under that version can have left calls of its \
            last second in it
            """, metadata: ["file": "\(path)"])
    }

    private func load(isStart: Bool) throws {
        try journal.withLock { taken in
            taken = try database.ledger.read { database in
                let state = try LedgerState(
                    database, ringID: ring.ringID, awaitsRedial: settings.limits.redial > 0)
                // The ledger is the truth. It may not know the ring: then what the ring itself remembers is used.
                var journal = LedgerJournal(
                    state, position: state.position ?? ring.released, minter: minter, limits: settings.limits,
                    trunks: trunks.withLock { $0 })
                let position = journal.batch.position
                journal.reached(isStart ? ring.resume(after: position) : ring.join(after: position))
                return journal
            }
        }
        removeSignalLog()
        log.debug("the ledger is taken up", metadata: ["ledger": "\(database.ledgerFile.path)"])
    }

    /// Goes on with the ledger that is open now: calls in progress and what is not stored yet are written there.
    private func move() throws {
        try journal.withLock { taken in
            guard var journal = taken else { return }
            let state = try database.ledger.read { database in
                try LedgerState(database, ringID: ring.ringID, awaitsRedial: settings.limits.redial > 0)
            }
            journal.move(to: state)
            taken = journal
        }
    }

    private func report(_ replaced: SetAsideFile?) {
        guard let replaced else { return }
        log.error(
            """
            the ledger was damaged and is kept under another name; a new one was begun, and accounts go on in it; what it held \
            of earlier calls can be read with sqlite3 .recover
            """,
            metadata: [
                "ledger": "\(database.ledgerFile.path)", "kept": "\(replaced.kept)", "reason": "\(replaced.damage)",
            ])
    }

    /// Says that the ledger refuses, and why.
    func alarm() {
        log.error(
            "outcomes cannot be stored; calls go on and the signal ring keeps what they tell until it is full",
            metadata: ["ledger": "\(database.ledgerFile.path)", "error": "\(totals.problem ?? "")"])
    }

    /// Counts a failure and keeps why; true where it is another one than before.
    @discardableResult
    func note(failure error: any Error) -> Bool {
        let problem = "\(database.ledgerFile.damage(shownBy: error) ?? error)"
        return shared.withLock { totals in
            totals.failures += 1
            defer { totals.problem = problem }
            return totals.problem != problem
        }
    }
}
