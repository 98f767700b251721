// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Counts events by day, brand, outcome and reason, in the transaction that records each event.
enum DayOutcomes {
    /// Counts an event; `reason` is nil when it counts towards the month.
    static func add(
        _ account: AccountID, brandID: String?, outcome: String, reason: UncountedReason?, at time: EventTime,
        _ database: any SQLConnection
    ) throws {
        let statement = """
            INSERT INTO day_outcome (account, day, brand_id, outcome, reason, shard, events)
            VALUES (?, ?, ?, ?, ?, ?, 1)
            ON CONFLICT (account, day, brand_id, outcome, reason, shard) DO UPDATE SET events = day_outcome.events + 1
            """
        try database.execute(
            statement,
            [
                account.row, time.day, brandID ?? "", outcome, reason?.rawValue ?? "", database.shard,
            ])
    }

    /// The day in UTC of a time in seconds since 1970, such as `2026-01-31`.
    static func day(of time: Int64) -> String { String(Timestamp.string(from: time).prefix(10)) }
}
