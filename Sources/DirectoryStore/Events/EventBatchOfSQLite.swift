// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

// The reads and writes of a batch on SQLite. A statement costs microseconds and no round trip, so each is made when it is
// needed, and its result serves all events of the batch.
extension EventBatch {
    /// Reads what the decision on an event needs, unless an earlier event needed it.
    mutating func readState(for event: EventRequest, at time: EventTime, _ part: Part) throws {
        for period in [MonthUsage.month(of: part.now), time.month] {
            let month = AccountDay(account: part.account, period: period)
            if configs[month] != nil { continue }
            configs[month] = try AccountStore.config(of: part.account, month: period, database)
        }
        if readAccounts.insert(part.account).inserted,
            try !DebugRequests.open(part.account, now: part.now, database).isEmpty
        {
            hasRequests.insert(part.account)
        }
        if let number = E164Number(event.phoneNumber) {
            let key = NumberKey(account: part.account, number: number)
            if attributions[key] == nil {
                attributions[key] = try BrandNumbers.attribution(of: number, part.account, database)
            }
        }
        let day = AccountDay(account: part.account, period: Self.day(part.now))
        if part.limit > 0, stored[day] == nil {
            stored[day] = try AccountQuota.taken(by: part.account, on: day.period, database)
        }
    }

    /// Inserts the row of an event; false for a key that already has an event.
    func insert(_ row: [SQLValue]) throws -> Bool {
        try database.execute(EventLedger.insertion, SQLArguments(row)) > 0
    }

    /// The response to the event that is stored under a key; nil without one.
    func earlierResponse(to key: EventKey?) throws -> EventResponse? {
        guard let key else { return nil }
        return try database.row(
            "SELECT * FROM event WHERE account = ? AND event_key = ?", [key.account.row, key.key]
        ).map(EventLedger.known)
    }

    /// Adds the counts of all events.
    func writeCounts() throws {
        for (outcome, count) in outcomes {
            try database.execute(
                """
                INSERT INTO day_outcome (account, day, brand_id, outcome, reason, shard, events)
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, day, brand_id, outcome, reason, shard)
                DO UPDATE SET events = day_outcome.events + excluded.events
                """,
                [
                    outcome.account.row, outcome.day, outcome.brandID, outcome.outcome, outcome.reason,
                    database.shard, count,
                ])
        }
        for (month, count) in counted {
            try database.execute(
                """
                INSERT INTO month_usage (account, month, shard, counted) VALUES (?, ?, ?, ?)
                ON CONFLICT (account, month, shard) DO UPDATE SET counted = month_usage.counted + excluded.counted
                """, [month.account.row, month.period, database.shard, count])
        }
        for (day, count) in bytes {
            try database.execute(
                """
                INSERT INTO day_stored (account, day, shard, bytes) VALUES (?, ?, ?, ?)
                ON CONFLICT (account, day, shard) DO UPDATE SET bytes = day_stored.bytes + excluded.bytes
                """, [day.account.row, day.period, database.shard, count])
        }
    }
}
