// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import GRDB

/// The in-memory index, made from the stored records.
extension BrandCacheStore {
    /// Builds the index from the rows of one instant, read one by one without a copy of all.
    ///
    /// - Parameter profile: the rendering of the bytes for a phone.
    /// - Throws: a database error. An invalid row is left out.
    package func loadIndex(profile: RenderingProfile) async throws -> BrandIndex {
        try await database.read { try Self.wholeIndex(in: $0, profile: profile) }
    }

    static func wholeIndex(in database: Database, profile: RenderingProfile) throws -> BrandIndex {
        var builder = BrandIndexBuilder(
            profile: profile, generation: try state(in: database).generation,
            expectedCount: try BrandChangeLog(database: database).recordCount(), numbersAreUnique: true)
        let rows = try Row.fetchCursor(database, sql: "SELECT \(BrandMerge.columns) FROM brand ORDER BY number")
        while let row = try rows.next() {
            guard let number = BrandMerge.number(of: row) else { continue }
            builder.add(BrandMerge.record(of: number, row))
        }
        return builder.finish()
    }

    /// Updates an index by the numbers that changed after it, in milliseconds instead of seconds.
    ///
    /// - Returns: the index of this instant and the number of changes; nil if the changes are unknown.
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
