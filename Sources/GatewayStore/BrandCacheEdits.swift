// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// The rows one sync has to write and remove: only those that differ from what is stored.
struct BrandCacheEdits {
    /// Positions in the incoming records.
    private var writes: [Int] = []
    private var removals: [Int64] = []

    /// Compares the whole table with an authoritative set, both walked once in order of number.
    init(replacing database: Database, with incoming: BrandCacheIncoming) throws {
        var position = 0
        let rows = try Row.fetchCursor(database, sql: "SELECT \(Self.columns) FROM brand ORDER BY number")
        while let row = try rows.next() {
            let number: Int64 = row[0]
            while position < incoming.count, Self.key(incoming[position]) < number {
                writes.append(position)
                position += 1
            }
            if position < incoming.count, Self.key(incoming[position]) == number {
                if !Self.holds(row, incoming[position]) { writes.append(position) }
                position += 1
            } else {
                removals.append(number)
            }
        }
        writes.append(contentsOf: position..<incoming.count)
    }

    /// Looks up each incoming record; the stored one stays if it is newer or the same.
    init(merging incoming: BrandCacheIncoming, removing numbers: [E164Number], into database: Database) throws {
        let stored = try database.cachedStatement(sql: "SELECT \(Self.columns) FROM brand WHERE number = ?")
        for position in 0..<incoming.count {
            let record = incoming[position]
            if let row = try Row.fetchOne(stored, arguments: [Self.key(record)]) {
                if Self.holds(row, record) { continue }
                if UpdateTime(row[5]) > UpdateTime(record.updatedAt) { continue }
            }
            writes.append(position)
        }
        removals = numbers.map { Int64($0.digits) }
    }

    /// Writes and then removes.
    ///
    /// - Returns: how many rows were written, and how many were there to be removed.
    func execute(_ incoming: BrandCacheIncoming, in database: Database) throws -> (written: Int, removed: Int) {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO brand (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (number) DO UPDATE SET name = excluded.name, brand_id = excluded.brand_id,
                    logo_url = excluded.logo_url, call_reason = excluded.call_reason, updated_at = excluded.updated_at
                """)
        for position in writes {
            let record = incoming[position]
            try insert.execute(arguments: [
                Self.key(record), record.name, record.brandID, record.logoURL, record.callReason, record.updatedAt,
            ])
        }
        let delete = try database.cachedStatement(sql: "DELETE FROM brand WHERE number = ?")
        var removed = 0
        for number in removals {
            try delete.execute(arguments: [number])
            removed += database.changesCount
        }
        return (writes.count, removed)
    }

    static let columns = "number, name, brand_id, logo_url, call_reason, updated_at"

    /// An E.164 number has at most fifteen digits, so it always fits.
    private static func key(_ record: BrandRecord) -> Int64 { Int64(record.number.digits) }

    private static func holds(_ row: Row, _ record: BrandRecord) -> Bool {
        row[1] as String == record.name && row[2] as String == record.brandID
            && row[3] as String? == record.logoURL && row[4] as String? == record.callReason
            && row[5] as String == record.updatedAt
    }
}
