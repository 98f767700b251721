// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Synchronization

extension OutcomeRecorder {
    /// Stores returns that were found among all gateways, with the events of call backs of this one; a repetition changes
    /// nothing.
    ///
    /// Waits for the disk and for a round of the recorder; not for its thread.
    package func store(_ returns: [SharedReturn]) throws {
        guard try addReturns(returns) else {
            throw HeraldDatabaseError(path: database.ledgerFile.path, problem: .missing)
        }
    }

    /// False without a ledger.
    private func addReturns(_ returns: [SharedReturn]) throws -> Bool {
        try journal.withLock { taken in
            guard let free = taken?.firstFreeEvent else { return false }
            let (settings, minter, now) = (settings, minter, now() / 1_000_000)
            let added = try database.ledger.write { database in
                var writer = LedgerWriter(
                    database, minter: minter, returns: settings.returns, isShared: settings.isShared, now: now)
                var next = free
                for found in returns { next += try writer.store(found, event: next) }
                return next - free
            }
            taken?.added(events: added)
            shared.withLock { $0.events += Int(added) }
            return true
        }
    }
}
