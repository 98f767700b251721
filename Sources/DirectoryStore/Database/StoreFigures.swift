// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
package import PostgreSQL

/// Sizes of the directory for its status page and its metrics; no person and no key.
package struct StoreFigures: Hashable, Sendable {
    /// Accounts, closed ones included.
    package var accounts = 0
    /// Accounts whose status is `active`.
    package var activeAccounts = 0
    /// Numbers in use, of all accounts.
    package var numbers = 0
    /// The number of the last change in the feed, the highest of all accounts.
    package var lastChange: Int64 = 0
    /// Events of this day in UTC, counted or not.
    package var eventsToday = 0
    /// Bytes of `directory.sqlite` and of its write-ahead log.
    package var databaseBytes: Int64 = 0
    package var logBytes: Int64 = 0
    /// Bytes that the program may still write to the disk of the state folder.
    package var freeBytes: Int64 = 0
    /// Seconds since 1970 of the last `herald-directory backup`; nil before the first one.
    package var lastBackup: Int64?
    /// Role and standbys of a database server; nil for a file.
    package var replication: PostgreSQLReplication?
}

extension DirectoryDatabase {
    /// Reads the figures; counts all numbers, which takes a second for ten million.
    ///
    /// - Parameter now: seconds since 1970.
    package func figures(now: Int64) async throws -> StoreFigures {
        let day = String(Timestamp.string(from: now).prefix(10))
        var figures = try await pool.read { database in
            var figures = StoreFigures()
            figures.accounts = try database.value(Int.self, "SELECT count(*) FROM account") ?? 0
            figures.activeAccounts =
                try database.value(Int.self, "SELECT count(*) FROM account WHERE status IN ('active', 'trial')") ?? 0
            figures.numbers = try database.value(Int.self, "SELECT count(*) FROM brand_number WHERE active") ?? 0
            figures.lastChange = try database.value(Int64.self, "SELECT max(last_change) FROM feed_head") ?? 0
            // The list of accounts lets the query use the primary key.
            figures.eventsToday =
                try database.value(
                    Int.self,
                    """
                    SELECT CAST(coalesce(sum(events), 0) AS BIGINT) FROM day_outcome
                    WHERE account IN (SELECT id FROM account) AND day = ?
                    """, [day]) ?? 0
            return figures
        }
        (figures.databaseBytes, figures.logBytes) = try await engine.sizes()
        var space = statvfs()
        if statvfs(folder, &space) == 0 { figures.freeBytes = Int64(space.f_bavail) * Int64(space.f_frsize) }
        figures.lastBackup = engine.lastBackup
        figures.replication = (try? await engine.replication()) ?? nil
        return figures
    }

    /// Sessions with a database server at this moment; nil for a file.
    package var load: PostgreSQLPool.Load? { engine.load }
}
