// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The count of an account's counted events in a calendar month, in UTC.
///
/// The transaction that records an event updates it, so the check of a cap counts no rows.
enum MonthUsage {
    /// - Parameter now: seconds since 1970; selects the month.
    static func counted(by account: AccountID, now: Int64, _ database: any SQLConnection) throws -> Int {
        try database.value(Int.self, sum, ["account": account.row, "month": month(of: now)]) ?? 0
    }

    /// The query of the events of an account (`:account`) in a month (`:month`); null without any.
    static let sum = sum(of: ":account")

    /// The query of the events of an account, given as an expression, in a month (`:month`).
    static func sum(of account: String) -> String {
        "SELECT CAST(sum(counted) AS BIGINT) FROM month_usage WHERE account = \(account) AND month = :month"
    }

    /// Such as `2026-01`.
    static func month(of now: Int64) -> String { String(Timestamp.string(from: now).prefix(7)) }
}
