// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import GRDB

/// Records of lookups, until a sync has decided about them.
///
/// A sync decides about the numbers it lists, and a full sync about all of them. Each other number is looked up again
/// after a sync. Source: securenode-endpoint-contract §6.
extension BrandCacheStore {
    /// Stores the record of a lookup, unless the number has one.
    ///
    /// The next full sync is unconditional, because the stored records no longer match the directory's validator.
    /// - Returns: true if the record was written; the generation has grown then.
    package func addProvisional(_ record: BrandRecord) async throws -> Bool {
        try await database.write { database in
            let isNew = try Self.change(in: database) {
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO brand (number, name, brand_id, logo_url, call_reason, updated_at)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """, arguments: Self.arguments(record))
            }
            guard isNew else { return false }
            try database.execute(
                sql: "INSERT OR IGNORE INTO provisional (number) VALUES (?)", arguments: [Int64(record.number.digits)])
            return true
        }
    }

    /// The numbers whose record came from a lookup and from no sync since, ascending.
    ///
    /// - Parameter limit: most numbers.
    package func provisional(limit: Int) async throws -> [E164Number] {
        try await database.read { database in
            let sql = "SELECT number FROM provisional ORDER BY number LIMIT ?"
            return try Int64.fetchAll(database, sql: sql, arguments: [limit]).compactMap {
                UInt64(exactly: $0).flatMap { E164Number(digits: $0) }
            }
        }
    }

    /// Replaces the record of an earlier lookup by that of a repeated one; a number that a sync has listed stays as it is.
    ///
    /// - Parameter record: nil removes the number.
    /// - Returns: true if a row changed; the generation has grown then.
    package func replaceProvisional(_ number: E164Number, by record: BrandRecord?) async throws -> Bool {
        try await database.write { database in
            let digits = Int64(number.digits)
            let isProvisional = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM provisional WHERE number = ?)", arguments: [digits])
            guard isProvisional == true else { return false }
            guard let record else {
                try database.execute(sql: "DELETE FROM provisional WHERE number = ?", arguments: [digits])
                return try Self.change(in: database) {
                    try database.execute(sql: "DELETE FROM brand WHERE number = ?", arguments: [digits])
                }
            }
            return try Self.change(in: database) {
                try database.execute(
                    sql: """
                        UPDATE brand SET name = ?2, brand_id = ?3, logo_url = ?4, call_reason = ?5, updated_at = ?6
                        WHERE number = ?1 AND NOT (name = ?2 AND brand_id = ?3 AND logo_url IS ?4 AND call_reason IS ?5
                            AND updated_at = ?6)
                        """, arguments: Self.arguments(record))
            }
        }
    }

    private static func arguments(_ record: BrandRecord) -> StatementArguments {
        [
            Int64(record.number.digits), record.name, record.brandID, record.logoURL, record.callReason,
            record.updatedAt,
        ]
    }

    /// Runs one statement and begins a generation if it changed rows.
    private static func change(in database: Database, _ statement: () throws -> Void) throws -> Bool {
        let (count, changes) = try BrandChanges.during(database) {
            try statement()
            return database.changesCount
        }
        guard count > 0 else { return false }
        try database.execute(
            sql: "UPDATE sync_state SET generation = generation + 1, full_validator = NULL WHERE id = 1")
        try BrandChangeLog(database: database).record(changes, generation: try state(in: database).generation)
        return true
    }
}
