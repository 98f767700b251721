// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// Adds the ended calls of a batch to the counts of their hours, in the transaction of the batch.
///
/// A call counts once, in the hour of its INVITE, when it ends. Calls in progress have an index of their own. A batch adds as
/// many rows as it has kinds of calls, however many calls they are.
struct HourTally {
    /// Microseconds of an hour.
    static let hour: Int64 = 3_600_000_000

    private struct Kind: Hashable {
        let hour: Int64
        let direction: CallUpdate.Direction
        let trunk: String
        let decision: String
        let outcome: CallOutcome?
    }

    private struct Brand: Hashable {
        let hour: Int64
        let name: String
        let customer: String
    }

    private var kinds: [Kind: CallSums] = [:]
    private var brands: [Brand: CallSums] = [:]
    private var shadow = ShadowTally()

    /// Counts an ended call.
    mutating func add(_ call: CallRecord) { change(call) { $0 += $1 } }

    /// Counts the record that a late report has made of an ended call, in place of the one before.
    mutating func replace(_ before: CallRecord, with call: CallRecord) {
        change(before) { $0 -= $1 }
        add(call)
    }

    private mutating func change(_ call: CallRecord, _ change: (inout CallSums, CallSums) -> Void) {
        let hour = call.inviteAt / Self.hour
        let sums = CallSums(call)
        let kind = Kind(
            hour: hour, direction: call.direction, trunk: call.trunk ?? "", decision: call.decision,
            outcome: call.outcome)
        change(&kinds[kind, default: CallSums()], sums)
        if call.isInShadow { shadow.change(call, hour: hour) { change(&$0, sums) } }
        guard call.isBranded, let name = call.brandName else { return }
        change(&brands[Brand(hour: hour, name: name, customer: call.customer ?? ""), default: CallSums()], sums)
    }

    /// Adds the sums to the tables.
    func store(in database: Database) throws {
        guard !kinds.isEmpty else { return }
        let addCalls = try LedgerStatement(database, Self.addCalls)
        for (kind, sums) in kinds where sums != CallSums() {
            addCalls.bind(1, kind.hour)
            addCalls.bind(2, Int64(kind.direction.rawValue))
            addCalls.bind(3, kind.trunk)
            addCalls.bind(4, kind.decision)
            addCalls.bind(5, kind.outcome?.rawValue ?? "")
            try Self.run(addCalls, sums, after: 5)
        }
        try shadow.store(in: database)
        guard !brands.isEmpty else { return }
        let addBrand = try LedgerStatement(database, Self.addBrand)
        for (brand, sums) in brands where sums != CallSums() {
            addBrand.bind(1, brand.hour)
            addBrand.bind(2, brand.name)
            addBrand.bind(3, brand.customer)
            try Self.run(addBrand, sums, after: 3)
        }
    }

    static func run(_ statement: LedgerStatement, _ sums: CallSums, after parameter: CInt) throws {
        statement.bind(parameter + 1, sums.calls)
        statement.bind(parameter + 2, sums.reached)
        statement.bind(parameter + 3, sums.answered)
        statement.bind(parameter + 4, sums.talks)
        statement.bind(parameter + 5, sums.talkSeconds)
        try statement.run()
    }

    private static let addCalls = """
        INSERT INTO call_hour VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        \(onConflict)
        """

    private static let addBrand = """
        INSERT INTO brand_hour VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        \(onConflict)
        """

    static let onConflict = """
        ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, reached = reached + excluded.reached,
            answered = answered + excluded.answered, talks = talks + excluded.talks,
            talk_seconds = talk_seconds + excluded.talk_seconds
        """
}

extension HourTally {
    /// The tables; an hour is counted from 1970, and an empty text means no trunk or customer.
    ///
    /// `counted` has one row: the counts are complete for calls from `since` on, in microseconds since 1970.
    static let tables = """
        CREATE TABLE call_hour (
            hour INTEGER NOT NULL,
            direction INTEGER NOT NULL,
            trunk TEXT NOT NULL,
            decision TEXT NOT NULL,
            outcome TEXT NOT NULL,
            \(sums),
            PRIMARY KEY (hour, direction, trunk, decision, outcome)
        ) WITHOUT ROWID;
        CREATE TABLE brand_hour (
            hour INTEGER NOT NULL,
            brand TEXT NOT NULL,
            customer TEXT NOT NULL,
            \(sums),
            PRIMARY KEY (hour, brand, customer)
        ) WITHOUT ROWID;
        CREATE TABLE counted (id INTEGER PRIMARY KEY CHECK (id = 1), since INTEGER NOT NULL);
        INSERT INTO counted VALUES (1, 0);

        """

    /// The columns of the sums.
    static let sums = ["calls", "reached", "answered", "talks", "talk_seconds"]
        .map { "\($0) INTEGER NOT NULL" }.joined(separator: ", ")

    /// Calls of a file without counts that are counted when it is opened: the newest ones, in a tenth of a second.
    static let mostCountedLater: Int64 = 20_000

    /// Makes the tables in a file that has calls already, and counts its newest calls.
    static func begin(in database: Database) throws {
        try database.execute(sql: tables)
        guard let newest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM call") else { return }
        let select = try LedgerStatement(
            database,
            """
            SELECT \(LedgerCallRow.columns) FROM \(CallColumn.source)
            WHERE id > ?1 AND ended_at IS NOT NULL AND continued_as IS NULL
            """)
        select.bind(1, newest - mostCountedLater)
        var tally = HourTally()
        while let row = try select.row(LedgerCallRow.init(_:)) {
            if let record = row.record { tally.add(record) }
        }
        try tally.store(in: database)
        try database.execute(
            sql: """
                UPDATE counted SET since = coalesce(
                    (SELECT max(invite_at) + 1 FROM (SELECT invite_at FROM call WHERE id <= ? ORDER BY id DESC LIMIT 100)), 0)
                """, arguments: [newest - mostCountedLater])
    }
}

extension HourTally {
    /// Hours whose counts are kept: a week, and some for the edges of its days.
    static let hoursKept: Int64 = 192

    /// Deletes the counts of hours that are past, and of the future, where a wrong clock had put calls.
    ///
    /// - Parameters:
    ///   - before: microseconds since 1970; calls of before are deleted too.
    ///   - now: microseconds since 1970.
    static func prune(before: Int64, now: Int64, in database: Database) throws {
        let first = max(before / hour, now / hour - hoursKept)
        for table in ["call_hour", "brand_hour", "shadow_hour"] {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE hour < ? OR hour > ?", arguments: [first, now / hour + 24])
        }
    }
}
