// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// Makes the stored records what a sync answer says, touching only rows that differ.
///
/// The answer's records are in an attached file named `incoming`; the whole is part of the caller's transaction.
struct BrandMerge {
    let database: Database

    /// The columns of a record, in the order everything here reads and writes them.
    static let columns = "number, name, brand_id, logo_url, call_reason, updated_at"

    /// The number of a row of those columns; nil when it cannot be one.
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

    /// Replaces the set: what is not among the incoming records goes.
    ///
    /// - Returns: how many rows were written and how many removed.
    func replace() throws -> (written: Int, removed: Int) {
        let removed = try run(
            """
            DELETE FROM brand WHERE NOT EXISTS
                (SELECT 1 FROM incoming.record r WHERE r.number = brand.number AND r.active = 1)
            """)
        return (try write(onlyIf: "1"), removed)
    }

    /// Writes incoming records unless the stored one is newer, and removes what became inactive.
    ///
    /// - Returns: how many rows were written and how many removed.
    func merge() throws -> (written: Int, removed: Int) {
        let written = try write(
            onlyIf: """
                NOT EXISTS (SELECT 1 FROM brand b WHERE b.number = r.number AND update_time(b.updated_at) > r.time)
                """)
        let removed = try run(
            "DELETE FROM brand WHERE number IN (SELECT number FROM incoming.record WHERE active = 0)")
        return (written, removed)
    }

    private func write(onlyIf condition: String) throws -> Int {
        try run(
            """
            INSERT INTO brand (\(Self.columns)) SELECT \(Self.columns) FROM incoming.record r
            WHERE r.active = 1 AND \(condition) AND NOT EXISTS (
                SELECT 1 FROM brand b WHERE b.number = r.number AND b.name = r.name AND b.brand_id = r.brand_id
                    AND b.logo_url IS r.logo_url AND b.call_reason IS r.call_reason AND b.updated_at = r.updated_at)
            ORDER BY r.number
            ON CONFLICT (number) DO UPDATE SET name = excluded.name, brand_id = excluded.brand_id,
                logo_url = excluded.logo_url, call_reason = excluded.call_reason, updated_at = excluded.updated_at
            """)
    }

    private func run(_ sql: String) throws -> Int {
        try database.execute(sql: sql)
        return database.changesCount
    }
}
