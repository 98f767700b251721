// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A step of the wall clock in the ledger; each step begins another clock.
///
/// An ended call keeps the times of its own clock. A comparison of two ended calls adds the steps between their clocks.
/// So a call back after a step of an hour back is not an hour earlier than its original.
struct LedgerClock {
    /// From 1; calls before the first step have no clock.
    let id: Int64
    /// The step in microseconds.
    let setBy: Int64
    /// The new time, in microseconds since 1970.
    let at: Int64

    /// Number of kept clocks, so that a machine with a step each minute does not fill the ledger.
    private static let most: Int64 = 1_000

    /// SQL for the end of a row of `call` by the present clock.
    static let endedAt = """
        (call.ended_at + (SELECT coalesce(sum(set_by), 0) FROM clock WHERE clock.id > coalesce(call.end_clock, 0)))
        """

    /// The largest difference between the own clock of a call and the present clock, in microseconds.
    ///
    /// - Parameter time: the call is not older; microseconds since 1970.
    static func reach(since time: Int64 = 0, in database: Database) throws -> Int64 {
        let sum = try LedgerStatement(database, "SELECT coalesce(sum(abs(set_by)), 0) FROM clock WHERE at >= ?1")
        sum.bind(1, time)
        return try sum.firstRow { $0.integer(0) }?.map { $0 } ?? 0
    }

    /// The sum of the steps since the end of a call, in microseconds.
    static func stepsSinceEnd(ofRow row: Int64, in database: Database) throws -> Int64 {
        let sum = try LedgerStatement(
            database,
            """
            SELECT coalesce(sum(set_by), 0) FROM clock
            WHERE id > coalesce((SELECT end_clock FROM call WHERE id = ?1), 0)
            """)
        sum.bind(1, row)
        return try sum.firstRow { $0.integer(0) }?.map { $0 } ?? 0
    }

    /// Stores clocks and deletes the oldest.
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
