// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The size of an account's feed and its last change, for operators.
package struct FeedSummary: Hashable, Sendable {
    package let brands: Int
    /// Numbers that are delivered.
    package let active: Int
    /// Numbers held back while the owner of their brand is inactive.
    package let held: Int
    /// The number of the last change; 0 without one.
    package let lastChange: Int64
    /// ISO 8601; nil without a change.
    package let changed: String?
    /// Complete sync responses of the present day, in UTC.
    package let deliveredToday: Int
    /// Responses of the present day to clients that held the present state.
    package let unchangedToday: Int

    /// Counts the feed of an account; `now` is seconds since 1970.
    package init(_ database: DirectoryDatabase, account: AccountID, now: Int64) throws {
        let day = String(Timestamp.string(from: now).prefix(10))
        let today = try SyncDeliveries(database, account: account).days(from: day, through: day).first
        (deliveredToday, unchangedToday) = (today?.delivered ?? 0, today?.unchanged ?? 0)
        (brands, active, held, lastChange, changed) = try database.pool.read { database in
            func count(_ sql: String) throws -> Int {
                try database.value(Int.self, sql, [account.row]) ?? 0
            }
            let last = try ChangeCounter.last(account, database)
            return (
                try count("SELECT count(*) FROM brand WHERE account = ?"),
                try count("SELECT count(*) FROM brand_number WHERE account = ? AND active"),
                try count("SELECT count(*) FROM brand_number WHERE account = ? AND held"), last,
                try ChangeCounter.time(ofChange: last, account, database).map(Timestamp.string)
            )
        }
    }
}
