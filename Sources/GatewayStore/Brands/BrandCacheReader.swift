// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import GRDB

/// The stored brands, read beside a running gateway or without one: for the operator's commands.
///
/// Opens the file for reading only and writes nothing. Safe from any thread.
package struct BrandCacheReader: Sendable {
    private let database: any DatabaseReader

    /// Opens the brand records in a gateway's state folder.
    ///
    /// - Throws: `HeraldDatabaseError` if there are none yet, or they are older or newer than this program.
    package init(folder: String) throws(HeraldDatabaseError) {
        database = try HeraldDatabase.brandsReader(folder: folder)
    }

    /// Where the sync stands, and the gates it left behind.
    package func syncState() throws -> SyncState {
        try database.read { try BrandCacheStore.state(in: $0) }
    }

    /// The logo that the record of a number names, as the directory sent it; nil without record or logo.
    package func logoURL(of number: E164Number) throws -> String? {
        try database.read {
            try String.fetchOne(
                $0, sql: "SELECT logo_url FROM brand WHERE number = ?", arguments: [Int64(number.digits)])
        }
    }

    /// True where any record names a logo.
    package func hasLogos() throws -> Bool {
        try database.read {
            try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM brand WHERE logo_url IS NOT NULL)") ?? false
        }
    }

    /// An index that holds one number, if that number is stored: a lookup need not wait for millions of others.
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
