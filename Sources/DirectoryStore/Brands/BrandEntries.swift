// SPDX-License-Identifier: Apache-2.0

package import Branding
package import BrandingAPI

/// Numbers and their brands, with a feed of changes.
///
/// Every change takes the next number of the account's feed head, which its transaction locks first. A reader of change n
/// has therefore read all changes below n. The feed neither skips nor repeats.
package struct BrandEntries: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A brand entry of an import.
    package struct Entry: Hashable, Sendable {
        package var number: E164Number
        package var name: String
        package var brandID: String
        /// A URL, or the plain name of a logo file of this server.
        package var logoURL: String?
        package var callReason: String?

        package init(
            number: E164Number, name: String, brandID: String, logoURL: String? = nil, callReason: String? = nil
        ) {
            self.number = number
            self.name = name
            self.brandID = brandID
            self.logoURL = logoURL
            self.callReason = callReason
        }
    }

    /// The result of `put`.
    package struct PutResult: Hashable, Sendable {
        package var changed: Int
        package var unchanged: Int
    }

    /// Writes entries in one transaction; unchanged entries take no change number.
    ///
    /// The first of several entries of one number wins. Missing brands are created.
    ///
    /// - Parameter now: seconds since 1970, for `updated_at`.
    package func put(_ entries: [Entry], now: Int64) throws -> PutResult {
        try database.pool.writeFeed(of: account) { [account] database in
            try Self.put(entries, account, now: now, database)
        }
    }

    static func put(
        _ entries: [Entry], _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> PutResult {
        let staging = try EntryStaging(database)
        for (line, entry) in entries.enumerated() { _ = try staging.add(entry, line: line) }
        _ = try staging.flush()
        let merged = try staging.merge(into: account, replaces: false, now: now)
        try staging.end()
        return PutResult(changed: merged.changed, unchanged: merged.unchanged)
    }

    /// Deactivates a number; clients receive the change with their next sync.
    ///
    /// - Parameter now: seconds since 1970, for `updated_at`.
    /// - Returns: false for a number that was not active.
    package func deactivate(_ number: E164Number, now: Int64) throws -> Bool {
        try BrandNumbers(database, account: account).deactivate([number], now: now) > 0
    }

    /// The active entries by number, at most `limit`.
    package func active(limit: Int) throws -> [BrandingItem] {
        try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM brand_number WHERE account = ? AND active ORDER BY number LIMIT ?", [account.row, limit]
            ).map(Self.item)
        }
    }

    /// The active entry of a number and the account's state, from one read; `now` is seconds since 1970.
    package func lookup(
        _ number: E164Number, device: String? = nil, now: Int64
    ) async throws -> (item: BrandingItem?, config: DirectoryConfig) {
        try await database.pool.read { [account] database in
            (
                try Self.find(number, account, database),
                try AccountStore.config(of: account, device: device, now: now, database).forClients
            )
        }
    }

    static func find(_ number: E164Number, _ account: AccountID, _ database: any SQLConnection) throws -> BrandingItem?
    {
        try database.row(
            "SELECT * FROM brand_number WHERE account = ? AND number = ? AND active",
            [account.row, Int64(number.digits)]
        ).map(item)
    }

    static func item(_ row: SQLRow) -> BrandingItem {
        let number: Int64 = row["number"]
        let isActive: Bool = row["active"]
        return BrandingItem(
            phoneNumber: "+\(number)", brandName: row["name"], brandID: row["brand_id"],
            updatedAt: Timestamp.string(from: row["updated"]), logoURL: row["logo_url"], callReason: row["call_reason"],
            isActive: isActive ? nil : false)
    }
}
