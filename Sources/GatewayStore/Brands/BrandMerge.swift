// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// Applies the records of a sync response to the stored records, and writes only rows that differ.
///
/// The records of the response are in an attached file named `incoming`. All of it is part of the caller's transaction.
struct BrandMerge {
    let database: Database

    /// The columns of a record, in the order of all statements here.
    static let columns = "number, name, brand_id, logo_url, call_reason, updated_at"

    /// The number of a row of those columns; nil if invalid.
    static func number(of row: Row) -> E164Number? {
        UInt64(exactly: row[0] as Int64).flatMap { E164Number(digits: $0) }
    }

    /// The record of a row of those columns.
    static func record(of number: E164Number, _ row: Row) -> BrandRecord {
        BrandRecord(
            number: number, name: row[1], brandID: row[2], logoURL: row[3], callReason: row[4], updatedAt: row[5])
    }

    /// Reads `updated_at` in SQL, so that times written in different ways compare.
    static let updateTime = DatabaseFunction("update_time", argumentCount: 1, pure: true) { values in
        UpdateTime(String.fromDatabaseValue(values[0]) ?? "").microseconds
    }

    /// Replaces the set: numbers without an incoming record are removed.
    ///
    /// - Returns: the numbers of written and removed rows.
    func replace() throws -> (written: Int, removed: Int) {
        let removed = try run(
            """
            DELETE FROM brand WHERE NOT EXISTS
                (SELECT 1 FROM incoming.record r WHERE r.number = brand.number AND r.active = 1)
            """)
        try database.execute(sql: "DELETE FROM provisional")
        // Ascending numbers are neighbours on the pages.
        return (try write(onlyIf: "1", atATime: 64), removed)
    }

    /// Writes incoming records unless the stored one is newer, and removes inactive numbers.
    ///
    /// An incoming record also decides about the record of a lookup.
    ///
    /// - Returns: the numbers of written and removed rows.
    func merge() throws -> (written: Int, removed: Int) {
        let written = try write(
            onlyIf: """
                NOT EXISTS (SELECT 1 FROM brand b WHERE b.number = r.number AND update_time(b.updated_at) > r.time)
                """, atATime: 4)
        let removed = try run(
            "DELETE FROM brand WHERE number IN (SELECT number FROM incoming.record WHERE active = 0)")
        try database.execute(
            sql: "DELETE FROM provisional WHERE number IN (SELECT number FROM incoming.record)")
        return (written, removed)
    }

    /// Writes the incoming records that differ, in ascending order and few at a time.
    ///
    /// SQLite keeps the old pages of a statement that may fail, up to 64 kB in memory. One statement for all records
    /// would write every changed page to a temporary file first.
    ///
    /// - Parameter count: rows of a statement, which changes at most 16 pages.
    private func write(onlyIf condition: String, atATime count: Int) throws -> Int {
        let end = try database.cachedStatement(
            sql: """
                SELECT MAX(number) FROM
                    (SELECT number FROM incoming.record WHERE number >= ? ORDER BY number LIMIT \(count))
                """)
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO brand (\(Self.columns)) SELECT \(Self.columns) FROM incoming.record r
                WHERE r.number BETWEEN ? AND ? AND r.active = 1 AND \(condition) AND NOT EXISTS (
                    SELECT 1 FROM brand b WHERE b.number = r.number AND b.name = r.name AND b.brand_id = r.brand_id
                        AND b.logo_url IS r.logo_url AND b.call_reason IS r.call_reason AND b.updated_at = r.updated_at)
                ORDER BY r.number
                ON CONFLICT (number) DO UPDATE SET name = excluded.name, brand_id = excluded.brand_id,
                    logo_url = excluded.logo_url, call_reason = excluded.call_reason, updated_at = excluded.updated_at
                """)
        var written = 0
        var first: Int64 = 0
        while let last = try Int64.fetchOne(end, arguments: [first]) {
            try insert.execute(arguments: [first, last])
            written += database.changesCount
            first = last + 1
        }
        return written
    }

    private func run(_ sql: String) throws -> Int {
        try database.execute(sql: sql)
        return database.changesCount
    }
}
