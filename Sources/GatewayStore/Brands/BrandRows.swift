// SPDX-License-Identifier: Apache-2.0

package import Branding
import GRDB

/// Numbers of the directory that have one brand, with its name, logo and reason.
package struct BrandRow: Hashable, Sendable {
    /// Empty for a brand without one.
    package let brandID: String
    package let name: String
    package let logoURL: String?
    package let callReason: String?
    /// The count of its numbers.
    package let numbers: Int
    package let first: E164Number
    package let last: E164Number
    /// The newest change of its numbers at the directory, as it wrote it.
    package let updatedAt: String
}

extension BrandCacheReader {
    private static let select = """
        SELECT brand_id, name, logo_url, call_reason, COUNT(*), MIN(number), MAX(number), MAX(updated_at) FROM brand
        """
    private static let group = "GROUP BY brand_id, name, logo_url, call_reason ORDER BY name, brand_id"

    /// The brands by name; reads all records, which takes a second for some million.
    package func brands(limit: Int) throws -> [BrandRow] {
        try database.read { database in
            try Row.fetchAll(database, sql: "\(Self.select) \(Self.group) LIMIT ?", arguments: [limit])
                .compactMap(BrandRow.init)
        }
    }

    /// The brands with an identifier or a whole name; ASCII letters of a name in upper or lower case.
    ///
    /// An identifier whose numbers differ in name, logo or reason has several rows.
    package func brands(named name: String) throws -> [BrandRow] {
        try database.read { database in
            func rows(_ condition: String) throws -> [BrandRow] {
                let sql = "\(Self.select) WHERE \(condition) \(Self.group)"
                return try Row.fetchAll(database, sql: sql, arguments: [name]).compactMap(BrandRow.init)
            }
            let found = try rows("brand_id = ?")
            return found.isEmpty ? try rows("name = ? COLLATE NOCASE") : found
        }
    }
}

extension BrandRow {
    /// Nil for numbers that no program has written.
    fileprivate init?(_ row: Row) {
        guard let first = E164Number(digits: UInt64(bitPattern: row[5])),
            let last = E164Number(digits: UInt64(bitPattern: row[6]))
        else { return nil }
        self.init(
            brandID: row[0], name: row[1], logoURL: row[2], callReason: row[3], numbers: row[4], first: first,
            last: last, updatedAt: row[7])
    }
}
