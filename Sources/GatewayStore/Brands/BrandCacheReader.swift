// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import GRDB

/// Reads the stored brands for the operator's commands, with or without a running gateway.
///
/// Opens the file read-only. Safe from any thread.
package struct BrandCacheReader: Sendable {
    let database: any DatabaseReader

    /// Opens the brand records in a gateway's state folder.
    ///
    /// - Throws: `HeraldDatabaseError` without records, or for records of an older or newer program.
    package init(folder: String) throws(HeraldDatabaseError) {
        database = try HeraldDatabase.brandsReader(folder: folder)
    }

    /// The state of the sync and the stored gates.
    package func syncState() throws -> SyncState {
        try database.read { try BrandCacheStore.state(in: $0) }
    }

    /// The logo of a number, as the directory sent it; nil without record or logo.
    package func logoURL(of number: E164Number) throws -> String? {
        try database.read {
            try String.fetchOne(
                $0, sql: "SELECT logo_url FROM brand WHERE number = ?", arguments: [Int64(number.digits)])
        }
    }

    /// True if any record names a logo.
    package func hasLogos() throws -> Bool {
        try database.read {
            try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM brand WHERE logo_url IS NOT NULL)") ?? false
        }
    }

    /// The index of all numbers, as the gateway has it; some seconds for a million.
    ///
    /// - Throws: a database error. An invalid row is left out.
    package func index(profile: RenderingProfile) throws -> BrandIndex {
        try database.read { try BrandCacheStore.wholeIndex(in: $0, profile: profile) }
    }

    /// An index of one number, if stored, so that a lookup does not wait for millions of others.
    package func index(of number: E164Number, profile: RenderingProfile) throws -> BrandIndex {
        try database.read { database in
            let state = try BrandCacheStore.state(in: database)
            var builder = BrandIndexBuilder(
                profile: profile, generation: state.generation, expectedCount: 1, numbersAreUnique: true)
            let sql = "SELECT \(BrandMerge.columns) FROM brand WHERE number = ?"
            if let row = try Row.fetchOne(database, sql: sql, arguments: [Int64(number.digits)]) {
                builder.add(BrandMerge.record(of: number, row))
            }
            return builder.finish()
        }
    }
}
