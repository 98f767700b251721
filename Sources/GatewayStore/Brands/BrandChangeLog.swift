// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// The changed numbers of each generation of the records, for updates of an index.
///
/// The table `brand_change` is written by the transaction that changes the rows. The log is complete for every
/// generation above `changes_since` in `sync_state`. It deletes its oldest generations above `BrandChanges.limit`
/// numbers.
struct BrandChangeLog {
    let database: Database

    /// Records the changes of the transaction under its generation, and the number of records.
    func record(_ changes: BrandChanges, generation: Int64) throws {
        try database.execute(
            sql: "UPDATE sync_state SET records = records + ? WHERE id = 1", arguments: [changes.growth])
        // With half of the set new, building a new index is faster.
        let half = try recordCount() / 2
        guard let numbers = changes.numbers, numbers.count <= half else {
            return try forget(upTo: generation)
        }
        let insert = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO brand_change (generation, number) VALUES (?, ?)")
        for number in numbers { try insert.execute(arguments: [generation, number]) }
        try freeSpace()
    }

    /// True when every number that changed after `generation` is known.
    func reaches(_ generation: Int64) throws -> Bool {
        let sql = "SELECT changes_since <= ?1 AND ?1 <= generation FROM sync_state WHERE id = 1"
        return try Bool.fetchOne(database, sql: sql, arguments: [generation]) ?? false
    }

    /// The stored number of records.
    func recordCount() throws -> Int {
        try Int.fetchOne(database, sql: "SELECT records FROM sync_state WHERE id = 1") ?? 0
    }

    /// Each number that changed after `generation`, ascending, with its present record; nil for a removed number.
    ///
    /// - Returns: the number of numbers.
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

    /// Deletes whole generations, oldest first, down to the limit.
    private func freeSpace() throws {
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
