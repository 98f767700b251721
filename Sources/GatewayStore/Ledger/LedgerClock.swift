// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A wall clock of the ledger's calls: another one begins each time the clock is set.
///
/// An ended call keeps the times it was told by its own clock. Where two ended calls are compared, the steps between their
/// clocks count: a call back that follows a step of an hour back is no hour earlier than the call it returns.
struct LedgerClock {
    /// From 1; what was told before any step has no clock.
    let id: Int64
    /// By how many microseconds it was set.
    let setBy: Int64
    /// The new time, in microseconds since 1970.
    let at: Int64

    /// Clocks that are kept; a machine whose clock is set each minute must not fill the ledger.
    private static let most: Int64 = 1_000

    /// When a row of `call` ended, by the present clock: SQL.
    static let endedAt = """
        (call.ended_at + (SELECT coalesce(sum(set_by), 0) FROM clock WHERE clock.id > coalesce(call.end_clock, 0)))
        """

    /// By how many microseconds the end of a call may differ by its own clock and by the present one, at the most.
    static func reach(in database: Database) throws -> Int64 {
        let sum = try LedgerStatement(database, "SELECT coalesce(sum(abs(set_by)), 0) FROM clock")
        return try sum.firstRow { $0.integer(0) }?.map { $0 } ?? 0
    }

    /// Stores clocks, and forgets the oldest.
    static func store(_ clocks: [LedgerClock], in database: Database) throws {
        guard let newest = clocks.last else { return }
        let insert = try LedgerStatement(database, "INSERT INTO clock (id, set_by, at) VALUES (?1, ?2, ?3)")
        for clock in clocks {
            insert.bind(1, clock.id)
            insert.bind(2, clock.setBy)
            insert.bind(3, clock.at)
            try insert.run()
        }
        let forget = try LedgerStatement(database, "DELETE FROM clock WHERE id <= ?1")
        forget.bind(1, newest.id - most)
        try forget.run()
    }
}
