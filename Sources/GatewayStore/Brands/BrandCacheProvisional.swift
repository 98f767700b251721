// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import GRDB

extension BrandCacheStore {
    /// Stores a record that a lookup brought, unless the number is there already.
    ///
    /// It is a record like any other, so the next full sync keeps it only if the directory lists it; that sync is asked
    /// for whole, since what is stored is no longer what the directory's validator names.
    /// - Returns: true if it was written; the generation has grown then.
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
            try BrandChangeLog(database: database).note(changes, generation: try Self.state(in: database).generation)
            return true
        }
    }
}
