// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import PostgreSQL

/// The events of many requests, recorded together.
///
/// The decisions are those of `EventLedger.record`, event by event in order. Only reads and writes are shared: PostgreSQL
/// takes three round trips, whatever the number of events. SQLite reads an account once, and writes each counter once
/// instead of once for each event (`EventBatchOfSQLite.swift`).
struct EventBatch {
    /// The events of one request.
    struct Part: SharedWrite {
        let events: [ReportedEvent]
        let account: AccountID
        /// Bytes a day that the account's clients may store; 0 means no limit.
        let limit: Int
        /// Seconds since 1970.
        let now: Int64

        func run(_ database: any SQLConnection) throws -> [EventResponse] { try EventLedger.record(self, database) }

        static func run(_ parts: [Part], _ database: any SQLConnection) throws -> [[EventResponse]] {
            try EventBatch.record(parts, database)
        }
    }

    /// Another program has stored an event of the same key since it was looked for.
    struct KeyTaken: Error {}

    /// Events by which an account can pass its cap between the reads of all programs and their commits.
    ///
    /// An account that is nearer to its cap counts under a lock, so the cap is exact.
    private static let capMargin = 20_000

    struct AccountDay: Hashable {
        let account: AccountID
        let period: String
    }

    struct NumberKey: Hashable {
        let account: AccountID
        let number: E164Number
    }

    struct EventKey: Hashable {
        let account: AccountID
        let key: String
    }

    struct Outcome: Hashable {
        let account: AccountID
        let day: String
        let brandID: String
        let outcome: String
        let reason: String
    }

    let database: any SQLConnection
    /// Nil on SQLite.
    private let server: PostgreSQLConnection?
    var configs: [AccountDay: DirectoryConfig] = [:]
    var hasRequests: Set<AccountID> = []
    var attributions: [NumberKey: BrandNumbers.Attribution] = [:]
    private var known: [EventKey: EventResponse] = [:]
    var stored: [AccountDay: Int] = [:]
    /// Accounts whose debug requests are read.
    var readAccounts: Set<AccountID> = []

    // Rows and counts for the writes.
    private var rows: [[SQLValue]] = []
    var outcomes: [Outcome: Int] = [:]
    var counted: [AccountDay: Int] = [:]
    var bytes: [AccountDay: Int] = [:]

    /// Records events, or finds the earlier events of their keys, inside the caller's transaction.
    ///
    /// - Throws: `KeyTaken` if the transaction has to run again, or a database error.
    static func record(_ parts: [Part], _ database: any SQLConnection) throws -> [[EventResponse]] {
        var batch = EventBatch(database)
        if let server = batch.server {
            try batch.read(parts, server)
            try batch.lockNearCap(server)
        }
        let responses = try parts.map { part in try part.events.map { try batch.decide($0, part) } }
        if let server = batch.server { try batch.write(server) } else { try batch.writeCounts() }
        return responses
    }

    private init(_ database: any SQLConnection) {
        self.database = database
        server = database as? PostgreSQLConnection
    }
}

// The state before the events, in one round trip.
extension EventBatch {
    private mutating func read(_ parts: [Part], _ database: PostgreSQLConnection) throws {
        let months = Set(
            parts.flatMap { part in
                // The response has the usage of the present month, and the decision needs that of the event's.
                let months =
                    [MonthUsage.month(of: part.now)] + part.events.map { EventTime($0.event, now: part.now).month }
                return months.map { AccountDay(account: part.account, period: $0) }
            })
        let days = Set(
            parts.filter { $0.limit > 0 }.map { AccountDay(account: $0.account, period: Self.day($0.now)) })
        let numbers = Set(
            parts.flatMap { part in
                part.events.compactMap { event in
                    E164Number(event.event.phoneNumber).map { NumberKey(account: part.account, number: $0) }
                }
            })
        let keys = Set(
            parts.flatMap { part in
                part.events.compactMap { event in
                    event.event.eventKey.map { EventKey(account: part.account, key: $0) }
                }
            })
        let now = parts.map(\.now).min() ?? 0
        let tables = try database.query([
            Self.accounts(Array(months)), Self.requests(Array(Set(parts.map(\.account))), now),
            Self.attributions(Array(numbers)), Self.known(Array(keys)), Self.stored(Array(days)),
        ])
        for row in tables[0] {
            let place = AccountDay(account: AccountID(row: row["id"]), period: row["month"])
            configs[place] = AccountStore.config(row, used: row["used"] ?? 0)
        }
        for row in tables[1] { hasRequests.insert(AccountID(row: row[0])) }
        for row in tables[2] {
            guard let number = E164Number("+\(row["number"] as Int64)") else { continue }
            attributions[NumberKey(account: AccountID(row: row["account"]), number: number)] =
                BrandNumbers.attribution(row)
        }
        for row in tables[3] {
            known[EventKey(account: AccountID(row: row["account"]), key: row["event_key"])] = EventLedger.known(row)
        }
        for row in tables[4] { stored[AccountDay(account: AccountID(row: row[0]), period: row[1])] = row[2] }
    }

    private static func accounts(_ months: [AccountDay]) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT account.*, asked.month, (SELECT sum(counted)::bigint FROM month_usage
                WHERE month_usage.account = account.id AND month_usage.month = asked.month) AS used
            FROM unnest($1::bigint[], $2::text[]) AS asked (id, month) JOIN account USING (id)
            """, [.integers(months.map(\.account.row)), .texts(months.map(\.period))])
    }

    private static func requests(_ accounts: [AccountID], _ now: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            "SELECT DISTINCT account FROM debug_request WHERE account = ANY($1::bigint[]) AND expires > $2::bigint",
            [.integers(accounts.map(\.row)), .integer(now)])
    }

    private static func attributions(_ numbers: [NumberKey]) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT brand_number.account, brand_number.number, brand_id, active, held, owner, brand_number.updated
            FROM unnest($1::bigint[], $2::bigint[]) AS asked (account, number)
            JOIN brand_number USING (account, number)
            LEFT JOIN brand ON brand.account = brand_number.account AND brand.id = brand_id
            """, [.integers(numbers.map(\.account.row)), .integers(numbers.map { Int64($0.number.digits) })])
    }

    private static func known(_ keys: [EventKey]) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT event.* FROM unnest($1::bigint[], $2::text[]) AS asked (account, event_key)
            JOIN event USING (account, event_key)
            """, [.integers(keys.map(\.account.row)), .texts(keys.map(\.key))])
    }

    private static func stored(_ days: [AccountDay]) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT account, day, sum(bytes)::bigint FROM unnest($1::bigint[], $2::text[]) AS asked (account, day)
            JOIN day_stored USING (account, day) GROUP BY account, day
            """, [.integers(days.map(\.account.row)), .texts(days.map(\.period))])
    }

    /// Reads the counts again under a lock for accounts that may reach their cap with these events.
    private mutating func lockNearCap(_ database: PostgreSQLConnection) throws {
        let near = configs.filter { _, config in
            guard case .events(let cap) = config.capThisMonth else { return false }
            let used = config.usedThisMonth ?? 0
            return used < cap && cap - used <= Self.capMargin
        }
        if near.isEmpty { return }
        let accounts = Set(near.keys.map(\.account.row)).sorted()
        // Not FOR UPDATE: the lock must not wait for keys and feeds of the account.
        _ = try database.query(
            "SELECT 1 FROM account WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE",
            [.integers(accounts)])
        for row in try database.query([Self.accounts(Array(near.keys))])[0] {
            let place = AccountDay(account: AccountID(row: row["id"]), period: row["month"])
            configs[place]?.usedThisMonth = row["used"] ?? 0
        }
    }

    static func day(_ now: Int64) -> String { DayOutcomes.day(of: now) }
}

// The decision on one event.
extension EventBatch {
    private mutating func decide(_ reported: ReportedEvent, _ part: Part) throws -> EventResponse {
        let event = reported.event
        let time = EventTime(event, now: part.now)
        if server == nil { try readState(for: event, at: time, part) }
        let present = AccountDay(account: part.account, period: MonthUsage.month(of: part.now))
        let month = AccountDay(account: part.account, period: time.month)
        var config = configs[present] ?? DirectoryConfig()
        config.debugUI =
            hasRequests.contains(part.account)
            ? try DebugRequests.debugUI(part.account, device: event.deviceID, now: part.now, database)
            : DirectoryConfig.DebugUI()
        let key = event.eventKey.map { EventKey(account: part.account, key: $0) }
        if var response = key.flatMap({ known[$0] }) {
            response.config = config.forClients
            return response
        }
        let number = E164Number(event.phoneNumber).map { NumberKey(account: part.account, number: $0) }
        let attribution = number.flatMap { attributions[$0] } ?? BrandNumbers.unknown
        var reason =
            reported.warning == nil
            ? UncountedReason.of(event, of: attribution, at: time, configs[month] ?? config)
            : UncountedReason.eventDropped
        var response = EventLedger.response(to: reported, reason, now: part.now)
        let meta = reported.meta
        var earlier: EventResponse?
        if reason != nil, !takes(meta?.utf8.count ?? 0, part) {
            reason = .eventDropped
            response.reason = reason?.rawValue
            if server == nil { earlier = try earlierResponse(to: key) }
        } else {
            let row = EventLedger.values(event, meta, as: response, part.account, now: part.now)
            if server != nil { rows.append(row) } else if try !insert(row) { earlier = try earlierResponse(to: key) }
            if earlier == nil, let key { known[key] = response }
        }
        if var response = earlier {
            response.config = config.forClients
            return response
        }
        outcomes[
            Outcome(
                account: part.account, day: time.day, brandID: attribution.brandID ?? "",
                outcome: event.outcome, reason: reason?.rawValue ?? ""), default: 0] += 1
        if reason == nil {
            counted[month, default: 0] += 1
            let used = configs[month]?.usedThisMonth ?? 0
            configs[month]?.usedThisMonth = used + 1
            config.usedThisMonth = configs[present]?.usedThisMonth
        }
        response.config = config.forClients
        return response
    }

    /// False when the account's limit of the day is reached.
    private mutating func takes(_ count: Int, _ part: Part) -> Bool {
        if part.limit == 0 { return true }
        let day = AccountDay(account: part.account, period: Self.day(part.now))
        guard stored[day, default: 0] < part.limit else { return false }
        stored[day, default: 0] += count + AccountQuota.row
        bytes[day, default: 0] += count + AccountQuota.row
        return true
    }
}

// The writes, in one round trip. Rows of counters are sorted, so that two programs lock them in one order.
extension EventBatch {
    private func write(_ database: PostgreSQLConnection) throws {
        var commands = [PostgreSQLCommand]()
        if !rows.isEmpty {
            commands.append(
                database.insertion(
                    into: "event", EventLedger.columns, rows, "ON CONFLICT (account, event_key) DO NOTHING"))
        }
        if !outcomes.isEmpty { commands.append(outcomeCounts(shard: database.shard)) }
        for (table, column, counts) in [("month_usage", "counted", counted), ("day_stored", "bytes", bytes)]
        where !counts.isEmpty {
            commands.append(Self.sums(table, column, counts, shard: database.shard))
        }
        if commands.isEmpty { return }
        let results = try database.session.run(commands)
        guard rows.isEmpty || results[0].affected == rows.count else { throw KeyTaken() }
    }

    private func outcomeCounts(shard: Int) -> PostgreSQLCommand {
        let sorted = outcomes.sorted {
            ($0.key.account.row, $0.key.day, $0.key.brandID, $0.key.outcome, $0.key.reason)
                < ($1.key.account.row, $1.key.day, $1.key.brandID, $1.key.outcome, $1.key.reason)
        }
        return PostgreSQLCommand(
            """
            INSERT INTO day_outcome (account, day, brand_id, outcome, reason, shard, events)
            SELECT account, day, brand_id, outcome, reason, $7::bigint, events
            FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
                AS counts (account, day, brand_id, outcome, reason, events)
            ON CONFLICT (account, day, brand_id, outcome, reason, shard)
                DO UPDATE SET events = day_outcome.events + excluded.events
            """,
            [
                .integers(sorted.map(\.key.account.row)), .texts(sorted.map(\.key.day)),
                .texts(sorted.map(\.key.brandID)), .texts(sorted.map(\.key.outcome)),
                .texts(sorted.map(\.key.reason)), .integers(sorted.map { Int64($0.value) }),
                .integer(Int64(shard)),
            ])
    }

    private static func sums(
        _ table: String, _ column: String, _ counts: [AccountDay: Int], shard: Int
    ) -> PostgreSQLCommand {
        let sorted = counts.sorted { ($0.key.account.row, $0.key.period) < ($1.key.account.row, $1.key.period) }
        let period = table == "month_usage" ? "month" : "day"
        return PostgreSQLCommand(
            """
            INSERT INTO \(table) (account, \(period), shard, \(column))
            SELECT account, period, $4::bigint, count
            FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS counts (account, period, count)
            ON CONFLICT (account, \(period), shard) DO UPDATE SET \(column) = \(table).\(column) + excluded.\(column)
            """,
            [
                .integers(sorted.map(\.key.account.row)), .texts(sorted.map(\.key.period)),
                .integers(sorted.map { Int64($0.value) }), .integer(Int64(shard)),
            ])
    }
}
