// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Removes events that are older than the operator keeps them, a few hundred at a time; the day's counters stay.
struct EventRetention: Sendable {
    /// Events a transaction looks at: some milliseconds of the writer.
    static let biteSize = 500

    let database: DirectoryDatabase
    let keepDays: Int

    /// Takes one bite at the oldest events.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: true when there may be more to remove.
    func bite(now: Int64) async throws -> Bool {
        let oldest = now - Int64(keepDays) * 86_400
        return try await database.pool.write { database in
            try database.execute(
                sql: """
                    DELETE FROM event WHERE id IN (
                        SELECT id FROM (SELECT id, received FROM event ORDER BY id LIMIT \(Self.biteSize))
                        WHERE received < ?)
                    """, arguments: [oldest])
            return database.changesCount == Self.biteSize
        }
    }
}
