// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// Counts events by day, brand, outcome and reason, in the transaction that records each event.
enum DayOutcomes {
    /// Counts an event; `reason` is nil when it counts towards the month, `now` is seconds since 1970.
    static func add(
        _ account: AccountID, brandID: String?, outcome: String, reason: UncountedReason?, now: Int64,
        _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO day_outcome (account, day, brand_id, outcome, reason, events) VALUES (?, ?, ?, ?, ?, 1)
                ON CONFLICT (account, day, brand_id, outcome, reason) DO UPDATE SET events = events + 1
                """)
        try statement.execute(arguments: [
            account.row, String(Timestamp.string(from: now).prefix(10)), brandID ?? "", outcome,
            reason?.rawValue ?? "",
        ])
    }
}
