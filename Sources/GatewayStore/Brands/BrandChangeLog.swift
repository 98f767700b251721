// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// Which numbers changed with which generation of the records, so that an index can be brought up to date by them.
///
/// In `brand_change`, written by the transaction that changes the rows. The log is complete for every generation above
/// `changes_since` in `sync_state`; it forgets its oldest generations above `BrandChanges.limit` numbers.
struct BrandChangeLog {
    let database: Database

    /// Notes what the transaction changed under the generation it brings, and how many records there are now.
    func note(_ changes: BrandChanges, generation: Int64) throws {
        try database.execute(
            sql: "UPDATE sync_state SET records = records + ? WHERE id = 1", arguments: [changes.growth])
        // Where half of the set is new, building the index anew is quicker.
        let half = try recordCount() / 2
        guard let numbers = changes.numbers, numbers.count <= half else {
            return try forget(upTo: generation)
        }
        let insert = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO brand_change (generation, number) VALUES (?, ?)")
        for number in numbers { try insert.execute(arguments: [generation, number]) }
        try makeRoom()
    }

    /// True when every number that changed after `generation` is known.
    func reaches(_ generation: Int64) throws -> Bool {
        let sql = "SELECT changes_since <= ?1 AND ?1 <= generation FROM sync_state WHERE id = 1"
        return try Bool.fetchOne(database, sql: sql, arguments: [generation]) ?? false
    }

    /// How many records there are, without counting them.
    func recordCount() throws -> Int {
        try Int.fetchOne(database, sql: "SELECT records FROM sync_state WHERE id = 1") ?? 0
    }

    /// Each number that changed after `generation`, ascending, with its record of now; nil where it has none any more.
    ///
    /// - Returns: how many they are.
    func forEach(after generation: Int64, _ body: (E164Number, BrandRecord?) -> Void) throws -> Int {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT c.number, b.name, b.brand_id, b.logo_url, b.call_reason, b.updated_at
                FROM (SELECT DISTINCT number FROM brand_change WHERE generation > ? ORDER BY number) c
                LEFT JOIN brand b ON b.number = c.number
                """, arguments: [generation])
        var count = 0
        while let row = try rows.next() {
            guard let number = BrandMerge.number(of: row) else { continue }
            body(number, row.hasNull(atIndex: 1) ? nil : BrandMerge.record(of: number, row))
            count += 1
        }
        return count
    }

    /// Forgets whole generations, oldest first, until what is left is within the limit.
    private func makeRoom() throws {
        let generations = try Row.fetchCursor(
            database,
            sql: "SELECT generation, COUNT(*) FROM brand_change GROUP BY generation ORDER BY generation DESC")
        var kept = 0
        while let row = try generations.next() {
            kept += row[1] as Int
            if kept > BrandChanges.limit { return try forget(upTo: row[0]) }
        }
    }

    private func forget(upTo generation: Int64) throws {
        try database.execute(sql: "DELETE FROM brand_change WHERE generation <= ?", arguments: [generation])
        try database.execute(sql: "UPDATE sync_state SET changes_since = ? WHERE id = 1", arguments: [generation])
    }
}
