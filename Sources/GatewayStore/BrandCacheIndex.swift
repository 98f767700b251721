// SPDX-License-Identifier: Apache-2.0

package import Branding
import GRDB
import Gateway

/// The in-memory index, built from the stored records.
extension BrandCacheStore {
    /// Builds the index from the rows of one instant, read one by one, so that memory holds the index and no copy.
    ///
    /// - Parameter profile: how the bytes a phone gets are rendered into the index.
    /// - Throws: a database error. A row that cannot be a record is left out, because one does not stop the others.
    package func loadIndex(profile: RenderingProfile) async throws -> BrandIndex {
        try await database.read { database in
            let state = try Self.state(in: database)
            let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM brand") ?? 0
            var builder = BrandIndexBuilder(
                profile: profile, generation: state.generation, expectedCount: count, numbersAreUnique: true)
            let rows = try Row.fetchCursor(
                database, sql: "SELECT \(BrandMerge.columns) FROM brand ORDER BY number")
            while let row = try rows.next() {
                guard let digits = UInt64(exactly: row[0] as Int64), let number = E164Number(digits: digits) else {
                    continue
                }
                builder.add(
                    BrandRecord(
                        number: number, name: row[1], brandID: row[2], logoURL: row[3], callReason: row[4],
                        updatedAt: row[5]))
            }
            return builder.finish()
        }
    }
}
