// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The clock of the machine, as far as the ledger knows it.
package struct LedgerClockState: Hashable, Sendable {
    /// Microseconds since 1970 of the newest INVITE; nil without calls.
    package var newestInvite: Int64?
    /// The last step of the wall clock while calls were in progress, in microseconds, and the time after it.
    package var lastStep: (by: Int64, at: Int64)? {
        stepBy.flatMap { by in stepAt.map { (by, $0) } }
    }

    var stepBy: Int64?
    var stepAt: Int64?
}

extension LedgerReader {
    /// The newest INVITE and the last step of the wall clock.
    package func clockState() throws -> LedgerClockState {
        try database.read { database in
            let newest = try Int64.fetchOne(database, sql: "SELECT invite_at FROM call ORDER BY id DESC LIMIT 1")
            let step = try Row.fetchOne(database, sql: "SELECT set_by, at FROM clock ORDER BY id DESC LIMIT 1")
            return LedgerClockState(newestInvite: newest, stepBy: step?["set_by"], stepAt: step?["at"])
        }
    }
}
