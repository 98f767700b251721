// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import GRDB

/// The in-memory index, made from the stored records.
extension BrandCacheStore {
    /// Builds the index from the rows of one instant, read one by one, so that memory holds the index and no copy.
    ///
    /// - Parameter profile: how the bytes a phone gets are rendered into the index.
    /// - Throws: a database error. A row that cannot be a record is left out, because one does not stop the others.
    package func loadIndex(profile: RenderingProfile) async throws -> BrandIndex {
        try await database.read { database in
            var builder = BrandIndexBuilder(
                profile: profile, generation: try Self.state(in: database).generation,
                expectedCount: try BrandChangeLog(database: database).recordCount(), numbersAreUnique: true)
            let rows = try Row.fetchCursor(
                database, sql: "SELECT \(BrandMerge.columns) FROM brand ORDER BY number")
            while let row = try rows.next() {
                guard let number = BrandMerge.number(of: row) else { continue }
                builder.add(BrandMerge.record(of: number, row))
            }
            return builder.finish()
        }
    }

    /// Brings an index up to date by the numbers that changed after it: milliseconds where building it takes seconds.
    ///
    /// - Returns: the index of the rows of this instant, and how many numbers changed; nil when it is not known which.
    /// - Throws: a database error.
    package func update(_ index: BrandIndex) async throws -> (index: BrandIndex, changes: Int)? {
        try await database.read { database in
            let log = BrandChangeLog(database: database)
            guard try log.reaches(index.generation) else { return nil }
            let generation = try Self.state(in: database).generation
            if generation == index.generation { return (index, 0) }
            var change = BrandIndexChange(of: index, generation: generation)
            let changes = try log.forEach(after: index.generation) { number, record in
                if let record { change.add(record) } else { change.remove(number) }
            }
            return (change.finish(), changes)
        }
    }
}
