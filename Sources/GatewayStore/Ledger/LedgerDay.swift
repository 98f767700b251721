// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Counts of recent calls from trunks, by outcome and by brand.
package struct LedgerDay: Hashable, Sendable {
    package struct Count: Hashable, Sendable {
        package var name: String
        package var calls: Int
        /// Of those, calls that a person answered.
        package var answered: Int
        /// The customer whose brand it is; nil for a usual brand and for an outcome.
        package var customer: String?
    }

    /// By outcome, the most frequent first; `OPEN` are in progress.
    package var outcomes: [Count]
    /// The ten brands of the most calls; a name that two customers have is two brands.
    package var brands: [Count]
    /// True if older calls of the time were left out.
    package var isLimited: Bool
}

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
    /// Counts calls since a time, among the newest rows only, so that the cost has a bound.
    ///
    /// - Parameters:
    ///   - since: seconds since 1970.
    ///   - most: the largest number of rows that are read.
    package func day(since: Int64, most: Int64 = 200_000) throws -> LedgerDay {
        let range = "id > ? AND invite_at >= ? AND direction = 1 AND continued_as IS NULL"
        let counts = """
            count(*) AS calls, count(answered_at) - sum(answered_at IS NOT NULL AND answered_by IS NOT NULL) AS answered
            """
        return try database.read { database in
            let first = (try Int64.fetchOne(database, sql: "SELECT max(id) FROM call") ?? 0) - most
            let arguments: StatementArguments = [first, since * 1_000_000]
            func rows(_ sql: String) throws -> [LedgerDay.Count] {
                try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in
                    LedgerDay.Count(
                        name: row["name"], calls: row["calls"], answered: row["answered"], customer: row["owner"])
                }
            }
            let outcomes = try rows(
                """
                SELECT coalesce(outcome, 'OPEN') AS name, \(counts), NULL AS owner FROM call WHERE \(range)
                GROUP BY 1 ORDER BY calls DESC, 1
                """)
            let brands = try rows(
                """
                SELECT brand_name AS name, \(counts), customer AS owner FROM call
                WHERE \(range) AND decision = 'matched' AND brand_name IS NOT NULL
                GROUP BY brand_name, customer ORDER BY calls DESC, brand_name, customer LIMIT 10
                """)
            let oldest = try Int64.fetchOne(
                database, sql: "SELECT invite_at FROM call WHERE id <= ? ORDER BY id DESC LIMIT 1", arguments: [first])
            return LedgerDay(
                outcomes: outcomes, brands: brands, isLimited: oldest.map { $0 >= since * 1_000_000 } ?? false)
        }
    }

    /// The newest INVITE and the last step of the wall clock.
    package func clockState() throws -> LedgerClockState {
        try database.read { database in
            let newest = try Int64.fetchOne(database, sql: "SELECT invite_at FROM call ORDER BY id DESC LIMIT 1")
            let step = try Row.fetchOne(database, sql: "SELECT set_by, at FROM clock ORDER BY id DESC LIMIT 1")
            return LedgerClockState(newestInvite: newest, stepBy: step?["set_by"], stepAt: step?["at"])
        }
    }
}
