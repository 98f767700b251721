// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import GRDB

extension BrandCacheStore {
    /// Stores the record of a lookup, unless the number has one.
    ///
    /// The next full sync keeps it only if the directory lists it. That sync is unconditional, because the stored
    /// records no longer match the directory's validator.
    /// - Returns: true if the record was written; the generation has grown then.
    package func addProvisional(_ record: BrandRecord) async throws -> Bool {
        try await database.write { database in
            let (_, changes) = try BrandChanges.during(database) {
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO brand (number, name, brand_id, logo_url, call_reason, updated_at)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        Int64(record.number.digits), record.name, record.brandID, record.logoURL, record.callReason,
                        record.updatedAt,
                    ])
            }
            guard changes.growth > 0 else { return false }
            try database.execute(
                sql: "UPDATE sync_state SET generation = generation + 1, full_validator = NULL WHERE id = 1")
            try BrandChangeLog(database: database).record(changes, generation: try Self.state(in: database).generation)
            return true
        }
    }
}
