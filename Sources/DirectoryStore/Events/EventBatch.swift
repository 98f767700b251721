// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// Records the events of one or many requests in one transaction: reads the state, decides event by event in order, writes.
///
/// Reads and writes are shared. PostgreSQL takes three round trips for them, whatever the number of events.
struct EventBatch {
    /// The events of one request.
    struct Part: SharedWrite {
        let events: [ReportedEvent]
        let account: AccountID
        /// Bytes a day that the account's clients may store; 0 means no limit.
        let limit: Int
        /// True if the ends of calls make push messages.
        var pushes = false
        /// Seconds since 1970.
        let now: Int64

        static func run(_ parts: [Part], _ database: any SQLConnection) throws -> [[EventResponse]] {
            try EventBatch.record(parts, database)
        }
    }

    /// Events by which an account can pass its cap between the reads of all programs and their commits.
    ///
    /// An account that is nearer to its cap counts under a lock, so the cap is exact.
    private static let capMargin = 20_000

    /// A month such as `2026-01` or a day such as `2026-01-31` of an account.
    private struct AccountTime: Hashable {
        let account: AccountID
        let period: String
    }

    private struct NumberKey: Hashable {
        let account: AccountID
        let number: E164Number
    }

    private struct EventKey: Hashable {
        let account: AccountID
        /// The bytes, as the database compares them: Swift takes two spellings of a letter for one.
        let key: [UInt8]

        init(_ account: AccountID, _ key: String) { (self.account, self.key) = (account, Array(key.utf8)) }
    }

    private struct Outcome: Hashable {
        let account: AccountID
        let day: String
        let brandID: String
        let outcome: String
        let reason: String
    }

    private struct CallEnd: Hashable {
        let account: AccountID
        let day: String
        let brandID: String
        let result: CallResult
    }

    private let database: any SQLConnection
    private var configs: [AccountTime: DirectoryConfig] = [:]
    private var hasRequests: Set<AccountID> = []
    private var attributions: [NumberKey: BrandNumbers.Attribution] = [:]
    private var known: [EventKey: EventResponse] = [:]
    private var stored: [AccountTime: Int] = [:]

    // Rows and counts for the writes.
    private var rows: [[SQLValue]] = []
    private var outcomes: [Outcome: Int] = [:]
    private var calls: [CallEnd: Int] = [:]
    private var counted: [AccountTime: Int] = [:]
    private var bytes: [AccountTime: Int] = [:]
    private var ends: [PushCall] = []

    /// Records events, or finds the earlier events of their keys, inside the caller's transaction.
    ///
    /// - Throws: `SharedWriteConflict` if another program has stored an event of the same key meanwhile, or a database
    ///   error.
    private static func record(_ parts: [Part], _ database: any SQLConnection) throws -> [[EventResponse]] {
        var batch = EventBatch(database: database)
        try batch.read(parts)
        try batch.lockNearCap()
        let responses = try parts.map { part in try part.events.map { try batch.decide($0, part) } }
        try batch.write()
        return responses
    }

    private init(database: any SQLConnection) { self.database = database }
}

// The state before the events.
extension EventBatch {
    private mutating func read(_ parts: [Part]) throws {
        let tables = try database.rows([
            Self.accounts(Self.months(of: parts)), Self.requests(parts), Self.attributions(parts), Self.known(parts),
            Self.stored(parts),
        ])
        for row in tables[0] {
            let month = AccountTime(account: AccountID(row: row["id"]), period: row["month"])
            configs[month] = AccountStore.config(row, used: row["used"] ?? 0)
        }
        for row in tables[1] { hasRequests.insert(AccountID(row: row["account"])) }
        for row in tables[2] {
            guard let number = E164Number("+\(row["number"] as Int64)") else { continue }
            attributions[NumberKey(account: AccountID(row: row["account"]), number: number)] =
                BrandNumbers.attribution(row)
        }
        for row in tables[3] {
            known[EventKey(AccountID(row: row["account"]), row["event_key"])] = EventLedger.known(row)
        }
        for row in tables[4] {
            stored[AccountTime(account: AccountID(row: row["account"]), period: row["day"])] = row["bytes"]
        }
    }

    /// The months whose usage the responses have, and those for which the events count.
    private static func months(of parts: [Part]) -> Set<AccountTime> {
        Set(
            parts.flatMap { part in
                let months =
                    [MonthUsage.month(of: part.now)] + part.events.map { EventTime($0.event, now: part.now).month }
                return months.map { AccountTime(account: part.account, period: $0) }
            })
    }

    private static func accounts(_ months: Set<AccountTime>) -> SQLListQuery {
        SQLListQuery(
            [SQLColumn("id", .integer), SQLColumn("month", .text)],
            months.map { [.integer($0.account.row), .text($0.period)] }
        ) { asked in
            """
            SELECT account.*, asked.month, (SELECT CAST(sum(counted) AS BIGINT) FROM month_usage
                WHERE month_usage.account = account.id AND month_usage.month = asked.month) AS used
            FROM \(asked) JOIN account USING (id)
            """
        }
    }

    private static func requests(_ parts: [Part]) -> SQLListQuery {
        let times = Dictionary(parts.map { ($0.account, $0.now) }, uniquingKeysWith: min)
        return SQLListQuery(
            [SQLColumn("account", .integer), SQLColumn("since", .integer)],
            times.map { [.integer($0.key.row), .integer($0.value)] }
        ) { asked in
            """
            SELECT DISTINCT account FROM \(asked) JOIN debug_request USING (account)
            WHERE debug_request.expires > asked.since
            """
        }
    }

    private static func attributions(_ parts: [Part]) -> SQLListQuery {
        let numbers = Set(
            parts.flatMap { part in
                part.events.compactMap { event in
                    E164Number(event.event.phoneNumber).map { NumberKey(account: part.account, number: $0) }
                }
            })
        return SQLListQuery(
            [SQLColumn("account", .integer), SQLColumn("number", .integer)],
            numbers.map { [.integer($0.account.row), .integer(Int64($0.number.digits))] }
        ) { asked in
            """
            SELECT brand_number.account, brand_number.number, brand_id, active, held, owner, brand_number.updated
            FROM \(asked) JOIN brand_number USING (account, number)
            LEFT JOIN brand ON brand.account = brand_number.account AND brand.id = brand_id
            """
        }
    }

    private static func known(_ parts: [Part]) -> SQLListQuery {
        let keys = parts.flatMap { part in
            part.events.compactMap { event in
                event.event.eventKey.map { [SQLValue.integer(part.account.row), .text($0)] }
            }
        }
        return SQLListQuery([SQLColumn("account", .integer), SQLColumn("event_key", .text)], keys) { asked in
            "SELECT event.* FROM \(asked) JOIN event USING (account, event_key)"
        }
    }

    private static func stored(_ parts: [Part]) -> SQLListQuery {
        let days = Set(parts.filter { $0.limit > 0 }.map(day))
        return SQLListQuery(
            [SQLColumn("account", .integer), SQLColumn("day", .text)],
            days.map { [.integer($0.account.row), .text($0.period)] }
        ) { asked in
            """
            SELECT account, day, CAST(sum(bytes) AS BIGINT) AS bytes FROM \(asked) JOIN day_stored USING (account, day)
            GROUP BY account, day
            """
        }
    }

    /// Reads the counts again under a lock for accounts that may reach their cap with these events.
    private mutating func lockNearCap() throws {
        // SQLite has one writer, so its counts are exact.
        if database.dialect == .sqlite { return }
        let near = configs.filter { _, config in
            guard case .events(let cap) = config.capThisMonth else { return false }
            let used = config.usedThisMonth ?? 0
            return used < cap && cap - used <= Self.capMargin
        }
        if near.isEmpty { return }
        let accounts = Set(near.keys.map(\.account))
        let lock = SQLListQuery([SQLColumn("id", .integer)], accounts.map { [.integer($0.row)] }) { asked in
            // Not FOR UPDATE: the lock must not wait for keys and feeds of the account.
            "SELECT 1 FROM \(asked) JOIN account USING (id) ORDER BY id FOR NO KEY UPDATE OF account"
        }
        // One after the other, because the second sees what was committed while the first waited.
        _ = try database.rows([lock])
        for row in try database.rows([Self.accounts(Set(near.keys))])[0] {
            let month = AccountTime(account: AccountID(row: row["id"]), period: row["month"])
            configs[month]?.usedThisMonth = row["used"] ?? 0
        }
    }

    private static func day(_ part: Part) -> AccountTime {
        AccountTime(account: part.account, period: EventTime.day(of: part.now))
    }
}

// The decision on one event.
extension EventBatch {
    private mutating func decide(_ reported: ReportedEvent, _ part: Part) throws -> EventResponse {
        let present = AccountTime(account: part.account, period: MonthUsage.month(of: part.now))
        let key = reported.event.eventKey.map { EventKey(part.account, $0) }
        var response: EventResponse
        if let earlier = key.flatMap({ known[$0] }) {
            response = earlier
        } else {
            response = record(reported, key, part, present)
        }
        var config = configs[present] ?? DirectoryConfig()
        config.debugUI =
            hasRequests.contains(part.account)
            ? try DebugRequests.debugUI(part.account, device: reported.event.deviceID, now: part.now, database)
            : DirectoryConfig.DebugUI()
        response.config = config.forClients
        return response
    }

    /// Decides on an event whose key is new; the response lacks the account's state.
    ///
    /// - Parameter present: the month of its receipt.
    private mutating func record(
        _ reported: ReportedEvent, _ key: EventKey?, _ part: Part, _ present: AccountTime
    ) -> EventResponse {
        let event = reported.event
        let time = EventTime(event, now: part.now)
        let month = AccountTime(account: part.account, period: time.month)
        let number = E164Number(event.phoneNumber).map { NumberKey(account: part.account, number: $0) }
        let attribution = number.flatMap { attributions[$0] } ?? BrandNumbers.unknown
        var reason =
            reported.warning == nil
            ? UncountedReason.of(
                event, of: attribution, at: time, configs[month] ?? configs[present] ?? DirectoryConfig())
            : UncountedReason.eventDropped
        var response = EventLedger.response(to: reported, reason, now: part.now)
        if reason != nil, !takes(reported.meta?.utf8.count ?? 0, part) {
            reason = .eventDropped
            response.reason = reason?.rawValue
        } else {
            rows.append(
                EventLedger.values(
                    event, reported.meta, of: attribution.brandID, as: response, part.account, now: part.now))
            if let key { known[key] = response }
            if reported.warning == nil, let result = CallResult(event) {
                calls[
                    CallEnd(account: part.account, day: time.day, brandID: attribution.brandID ?? "", result: result),
                    default: 0] += 1
            }
            if part.pushes, reported.warning == nil, let number, let brandID = attribution.brandID,
                attribution.reason(at: time.displayed) == nil, configs[present]?.forClients.brandingEnabled == true,
                let end = PushCall(event, of: number.number, brandID, at: time.counted, part.account, now: part.now)
            {
                ends.append(end)
            }
        }
        outcomes[
            Outcome(
                account: part.account, day: time.day, brandID: attribution.brandID ?? "",
                outcome: event.outcome, reason: reason?.rawValue ?? ""), default: 0] += 1
        if reason == nil {
            counted[month, default: 0] += 1
            let used = configs[month]?.usedThisMonth ?? 0
            configs[month]?.usedThisMonth = used + 1
        }
        return response
    }

    /// False when the account's limit of the day is reached.
    private mutating func takes(_ count: Int, _ part: Part) -> Bool {
        if part.limit == 0 { return true }
        let day = Self.day(part)
        guard stored[day, default: 0] < part.limit else { return false }
        stored[day, default: 0] += count + AccountQuota.row
        bytes[day, default: 0] += count + AccountQuota.row
        return true
    }
}

// The writes. Rows of counters are sorted, so that two programs lock them in one order.
extension EventBatch {
    private func write() throws {
        let events = SQLInsertion(
            into: "event", EventLedger.columns, rows, "ON CONFLICT (account, event_key) DO NOTHING")
        let insertions = [
            events, outcomeCounts, callCounts, sums(counted, into: "month_usage", "month", "counted"),
            sums(bytes, into: "day_stored", "day", "bytes"),
        ].filter { !$0.rows.isEmpty }
        if insertions.isEmpty { return }
        let changed = try database.insert(insertions)
        guard rows.isEmpty || changed[0] == rows.count else { throw SharedWriteConflict() }
        try PushCalls.write(ends, database)
    }

    private var outcomeCounts: SQLInsertion {
        let sorted = outcomes.sorted {
            ($0.key.account.row, $0.key.day, $0.key.brandID, $0.key.outcome, $0.key.reason)
                < ($1.key.account.row, $1.key.day, $1.key.brandID, $1.key.outcome, $1.key.reason)
        }
        let texts = ["day", "brand_id", "outcome", "reason"].map { SQLColumn($0, .text) }
        return SQLInsertion(
            into: "day_outcome",
            [SQLColumn("account", .integer)] + texts + ["shard", "events"].map { SQLColumn($0, .integer) },
            sorted.map { outcome, count in
                [
                    .integer(outcome.account.row), .text(outcome.day), .text(outcome.brandID), .text(outcome.outcome),
                    .text(outcome.reason), .integer(Int64(database.shard)), .integer(Int64(count)),
                ]
            },
            """
            ON CONFLICT (account, day, brand_id, outcome, reason, shard)
            DO UPDATE SET events = day_outcome.events + excluded.events
            """)
    }

    private var callCounts: SQLInsertion {
        let sorted = calls.sorted {
            ($0.key.account.row, $0.key.day, $0.key.brandID, $0.key.result.rawValue)
                < ($1.key.account.row, $1.key.day, $1.key.brandID, $1.key.result.rawValue)
        }
        let texts = ["day", "brand_id", "result"].map { SQLColumn($0, .text) }
        return SQLInsertion(
            into: "day_call",
            [SQLColumn("account", .integer)] + texts + ["shard", "calls"].map { SQLColumn($0, .integer) },
            sorted.map { end, count in
                [
                    .integer(end.account.row), .text(end.day), .text(end.brandID), .text(end.result.rawValue),
                    .integer(Int64(database.shard)), .integer(Int64(count)),
                ]
            },
            """
            ON CONFLICT (account, day, brand_id, result, shard) DO UPDATE SET calls = day_call.calls + excluded.calls
            """)
    }

    private func sums(
        _ counts: [AccountTime: Int], into table: String, _ period: String, _ column: String
    ) -> SQLInsertion {
        let sorted = counts.sorted { ($0.key.account.row, $0.key.period) < ($1.key.account.row, $1.key.period) }
        return SQLInsertion(
            into: table,
            [
                SQLColumn("account", .integer), SQLColumn(period, .text), SQLColumn("shard", .integer),
                SQLColumn(column, .integer),
            ],
            sorted.map { time, count in
                [
                    .integer(time.account.row), .text(time.period), .integer(Int64(database.shard)),
                    .integer(Int64(count)),
                ]
            },
            "ON CONFLICT (account, \(period), shard) DO UPDATE SET \(column) = \(table).\(column) + excluded.\(column)")
    }
}
