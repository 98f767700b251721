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

/// A brand with all its numbers, whatever their names, logos and reasons.
package struct ListedBrand: Hashable, Sendable {
    /// Empty for a brand without one, which is all numbers of a name.
    package let brandID: String
    /// The first in order, if there are several.
    package let name: String
    package let names: Int
    /// Nil for none, and for several.
    package let logoURL: String?
    package let logos: Int
    /// Nil for none, and for several.
    package let callReason: String?
    package let reasons: Int
    package let numbers: Int
    package let first: E164Number
    package let last: E164Number
    /// The newest change of its numbers at the directory, as it wrote it.
    package let updatedAt: String
}

extension BrandCacheReader {
    private static let select = """
        SELECT brand_id, name, logo_url, call_reason, COUNT(*) AS numbers, MIN(number) AS first, MAX(number) AS last,
            MAX(updated_at) AS changed FROM brand
        """
    private static let group = "GROUP BY brand_id, name, logo_url, call_reason"
    private static let order = "ORDER BY name, brand_id"

    /// The brands by name, one row each; reads all records, which takes a second for some million.
    package func brands(limit: Int) throws -> [ListedBrand] {
        let sql = """
            SELECT brand_id, MIN(name) AS name, COUNT(DISTINCT name), MIN(logo_url), COUNT(DISTINCT logo_url), MIN(call_reason),
                COUNT(DISTINCT call_reason), SUM(numbers), MIN(first), MAX(last), MAX(changed)
            FROM (\(Self.select) \(Self.group)) GROUP BY brand_id, iif(brand_id = '', name, NULL) \(Self.order) LIMIT ?
            """
        return try database.read { database in
            try Row.fetchAll(database, sql: sql, arguments: [limit]).compactMap(ListedBrand.init)
        }
    }

    /// Identifiers and names of the first brands by name.
    package func names(limit: Int) throws -> Set<String> {
        try database.read { database in
            let sql = "SELECT DISTINCT name, brand_id FROM brand \(Self.order) LIMIT ?"
            return try Row.fetchAll(database, sql: sql, arguments: [limit]).reduce(into: []) { names, row in
                names.formUnion([row[0], row[1]].filter { !$0.isEmpty })
            }
        }
    }

    /// The brands with an identifier or a whole name; ASCII letters of a name in upper or lower case.
    ///
    /// An identifier whose numbers differ in name, logo or reason has several rows.
    package func brands(named name: String) throws -> [BrandRow] {
        try database.read { database in
            func rows(_ condition: String) throws -> [BrandRow] {
                let sql = "\(Self.select) WHERE \(condition) \(Self.group) \(Self.order)"
                return try Row.fetchAll(database, sql: sql, arguments: [name]).compactMap(BrandRow.init)
            }
            let found = try rows("brand_id = ?")
            return found.isEmpty ? try rows("name = ? COLLATE NOCASE") : found
        }
    }
}

extension ListedBrand {
    /// Nil for numbers that no program has written.
    fileprivate init?(_ row: Row) {
        guard let first = E164Number(digits: UInt64(bitPattern: row[8])),
            let last = E164Number(digits: UInt64(bitPattern: row[9]))
        else { return nil }
        let (logos, reasons): (Int, Int) = (row[4], row[6])
        self.init(
            brandID: row[0], name: row[1], names: row[2], logoURL: logos == 1 ? row[3] : nil, logos: logos,
            callReason: reasons == 1 ? row[5] : nil, reasons: reasons, numbers: row[7], first: first, last: last,
            updatedAt: row[10])
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
