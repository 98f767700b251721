// SPDX-License-Identifier: Apache-2.0

import GRDB
import Host

/// The result of a search, and the place where it ended early.
package struct CallSearch: Sendable, Hashable {
    /// The newest first.
    package var calls: [LedgerCallRow]
    /// The rest that the search did not read in its time; nil if it has read all it needs.
    package var rest: Rest?

    /// The calls that a search left unread.
    package struct Rest: Sendable, Hashable {
        /// All of them are before this row.
        package var before: Int64
        /// Seconds since 1970 of the oldest INVITE that was read.
        package var readSince: Int64

        package init(before: Int64, readSince: Int64) { (self.before, self.readSince) = (before, readSince) }
    }

    package init(calls: [LedgerCallRow] = [], rest: Rest? = nil) { (self.calls, self.rest) = (calls, rest) }
}

/// Numbers of calls by decision and outcome.
package struct CallCounts: Sendable, Hashable {
    /// The properties that the calls of one count share.
    package struct Kind: Sendable, Hashable {
        /// `matched`, or the text of a `PassThroughReason`.
        package var decision: String
        /// Nil for calls in progress.
        package var outcome: String?
        /// The brand that a call in shadow would have shown; nil for every other call, and for values of a signature alone.
        package var brandInShadow: String?

        package init(decision: String, outcome: String?, brandInShadow: String? = nil) {
            (self.decision, self.outcome, self.brandInShadow) = (decision, outcome, brandInShadow)
        }
    }

    /// A number of calls with the times of the first and the last INVITE, in microseconds since 1970.
    package struct Count: Sendable, Hashable {
        package var calls: Int
        package var first: Int64
        package var last: Int64

        package init(calls: Int, first: Int64, last: Int64) {
            (self.calls, self.first, self.last) = (calls, first, last)
        }

        /// Adds other calls.
        package mutating func add(_ other: Count) {
            calls += other.calls
            (first, last) = (min(first, other.first), max(last, other.last))
        }
    }

    package var counts: [Kind: Count]
    /// The rest that was not read in time; nil if all calls are counted.
    package var rest: CallSearch.Rest?

    package init(counts: [Kind: Count] = [:], rest: CallSearch.Rest? = nil) {
        (self.counts, self.rest) = (counts, rest)
    }
}

// Searches read the newest rows first, in pieces of the table. Each piece is a transaction of its own, so a long search keeps
// neither a checkpoint of the recorder from the log nor another reader waiting.
extension LedgerReader {
    /// Rows of one piece: some ten milliseconds.
    static let piece: Int64 = 20_000

    /// The newest calls that pass the filter, newest first.
    package func calls(matching filter: CallFilter = .init(), limit: Int) throws -> [LedgerCallRow] {
        try search(filter, limit: limit).calls
    }

    /// The newest calls that pass the filter, as far as they are found in a time.
    ///
    /// - Parameter patience: the time after which no further piece is read; nil reads all.
    package func search(_ filter: CallFilter, limit: Int, patience: Duration? = nil) throws -> CallSearch {
        var search = CallSearch()
        search.rest = try read(filter, patience) { database, piece in
            let sql = """
                SELECT * FROM \(CallColumn.source) WHERE \(piece.condition)
                ORDER BY id DESC LIMIT \(limit - search.calls.count)
                """
            let rows = try Row.fetchCursor(database, sql: sql, arguments: piece.arguments)
            var calls = try Array(rows.map(LedgerCallRow.init(row:)))
            calls.takeEvents(from: try Self.events(of: calls, in: database))
            search.calls += calls
            return search.calls.count < limit ? (calls.isEmpty ? .isEmpty : .hasCalls) : .isEnough
        }
        return search
    }

    /// The rows of the newest calls that pass the filter, newest first: eight bytes a call.
    package func rows(matching filter: CallFilter, limit: Int) throws -> [Int64] {
        var found: [Int64] = []
        _ = try read(filter, nil) { database, piece in
            let sql = "SELECT id FROM call WHERE \(piece.condition) ORDER BY id DESC LIMIT \(limit - found.count)"
            let rows = try Int64.fetchAll(database, sql: sql, arguments: piece.arguments)
            found += rows
            return found.count < limit ? (rows.isEmpty ? .isEmpty : .hasCalls) : .isEnough
        }
        return found
    }

    /// Counts the calls that pass the filter, the newest first, as far as they are read in a time.
    ///
    /// - Parameter patience: the time after which no further piece is read; nil counts all.
    package func counts(matching filter: CallFilter, patience: Duration? = nil) throws -> CallCounts {
        var counts = CallCounts()
        counts.rest = try read(filter, patience) { database, piece in
            let sql = """
                SELECT decision, outcome, \(CallConditions.brandInShadow) AS brand_in_shadow, count(*), min(invite_at),
                    max(invite_at)
                FROM call WHERE \(piece.condition) GROUP BY decision, outcome, brand_in_shadow
                """
            let rows = try Row.fetchAll(database, sql: sql, arguments: piece.arguments)
            for row in rows {
                let kind = CallCounts.Kind(decision: row[0], outcome: row[1], brandInShadow: row[2])
                let count = CallCounts.Count(calls: row[3], first: row[4], last: row[5])
                if counts.counts[kind]?.add(count) == nil { counts.counts[kind] = count }
            }
            return rows.isEmpty ? .isEmpty : .hasCalls
        }
        return counts
    }

    /// The events of some calls, by their rows: one statement for all calls.
    private static func events(of calls: [LedgerCallRow], in database: Database) throws -> [Int64: LedgerEventRow] {
        let rows = calls.flatMap(\.eventRows)
        guard !rows.isEmpty else { return [:] }
        let select = try database.cachedStatement(sql: eventsOfRows)
        let list = "[\(rows.map(String.init).joined(separator: ","))]"
        var events: [Int64: LedgerEventRow] = [:]
        let found = try Row.fetchCursor(select, arguments: [list])
        while let row = try found.next() { events[row["id"]] = LedgerEventRow(row: row) }
        return events
    }

    /// The events with the rows of a JSON array.
    static let eventsOfRows = "SELECT * FROM event WHERE id IN (SELECT value FROM json_each(?))"
}

extension LedgerReader {
    /// The conditions of one piece, for a statement on `call`.
    struct Piece {
        let rows: ClosedRange<Int64>
        let condition: String
        let arguments: StatementArguments
    }

    /// The result of one piece.
    enum PieceResult { case isEmpty, hasCalls, isEnough }

    /// Reads the rows that a filter may concern, piece by piece, the newest first.
    ///
    /// - Returns: the rest that was not read in the time of the search; nil if nothing is left or enough was found.
    func read(
        _ filter: CallFilter, _ patience: Duration?, named name: CallName? = nil,
        _ body: (Database, Piece) throws -> PieceResult
    ) throws -> CallSearch.Rest? {
        let conditions = CallConditions(filter, named: name)
        guard let span = try database.read({ try CallSpan(filter, in: $0) }) else { return nil }
        let began = SteadyClock.microseconds
        // Known rows are looked up.
        let size = filter.rows == nil ? Self.piece : Int64.max
        var last = span.rows.upperBound
        while last >= span.rows.lowerBound {
            let first = max(span.rows.lowerBound, last - size + 1)
            let piece = Piece(
                rows: first...last, condition: "id BETWEEN ? AND ?" + conditions.sql,
                arguments: [first, last] + conditions.arguments)
            let isLast = try database.read { [last] database in
                switch try body(database, piece) {
                case .isEnough: true
                case .hasCalls: false
                case .isEmpty: try !span.goesOn(before: first...last, in: database)
                }
            }
            if isLast { return nil }
            last = first - 1
            let time = Duration.microseconds(SteadyClock.microseconds - began)
            if let patience, time > patience, last >= span.rows.lowerBound {
                return try database.read { try CallSearch.Rest(before: first, in: $0) }
            }
        }
        return nil
    }
}

extension CallSearch.Rest {
    /// The rest before a row.
    fileprivate init(before row: Int64, in database: Database) throws {
        let oldest = try Int64.fetchOne(
            database, sql: "SELECT invite_at FROM call WHERE id >= ? ORDER BY id LIMIT 1", arguments: [row])
        self.init(before: row, readSince: (oldest ?? 0) / 1_000_000)
    }
}

/// The rows that calls of a time may have.
///
/// Rows are in the order of their INVITEs but for adopted calls and steps of the clock. So a search reads more on both sides: as
/// much as a report may be late, and as the clock was set since.
private struct CallSpan {
    let rows: ClosedRange<Int64>
    /// Microseconds since 1970: a piece in which every call began earlier is the last one; nil for no begin.
    private let earliest: Int64?

    /// Nil for a ledger without such rows.
    init?(_ filter: CallFilter, in database: Database) throws {
        guard var first = try Int64.fetchOne(database, sql: "SELECT min(id) FROM call"),
            var last = try Int64.fetchOne(database, sql: "SELECT max(id) FROM call")
        else { return nil }
        let begin = filter.since ?? filter.until
        let slack =
            try DoorCalls.latest + (begin.map { try LedgerClock.reach(since: $0 * 1_000_000, in: database) } ?? 0)
        earliest = filter.since.map { $0 * 1_000_000 - slack }
        if let until = filter.until {
            last = min(last, try Self.last(before: (until + 1) * 1_000_000 + slack, newest: last, in: database))
        }
        if let before = filter.before { last = min(last, max(before, 1) - 1) }
        for row in [filter.row, filter.rows?.max()] { if let row { last = min(last, row) } }
        for row in [filter.row, filter.rows?.min()] { if let row { first = max(first, row) } }
        guard first <= last else { return nil }
        rows = first...last
    }

    /// Whether rows before some that have no call of the filter may have one.
    func goesOn(before piece: ClosedRange<Int64>, in database: Database) throws -> Bool {
        guard let earliest else { return true }
        let sql = "SELECT EXISTS (SELECT 1 FROM call WHERE id BETWEEN ? AND ? AND invite_at >= ?)"
        let arguments: StatementArguments = [piece.lowerBound, piece.upperBound, earliest]
        return try Bool.fetchOne(database, sql: sql, arguments: arguments) ?? false
    }

    /// A row behind which no call began before a time.
    ///
    /// Calls of a clock that was wrong for a while may lead the search by time astray. Some rows behind the found one, near and far,
    /// show that; then all rows may have such calls.
    private static func last(before time: Int64, newest: Int64, in database: Database) throws -> Int64 {
        guard let found = try CallOrder.lastRow(from: time, in: database) else { return newest }
        let select = try database.cachedStatement(
            sql: """
                SELECT invite_at + iif(\(DoorCalls.isByDoor), \(DoorCalls.latest), 0) FROM call
                WHERE id >= ? AND id NOT IN (SELECT call FROM adopted_call) ORDER BY id LIMIT 1
                """)
        var distance: Int64 = 1
        while found + distance <= newest {
            if let latest = try Int64.fetchOne(select, arguments: [found + distance]), latest < time { return newest }
            distance *= 2
        }
        return max(found, try Int64.fetchOne(database, sql: "SELECT max(call) FROM adopted_call") ?? 0)
    }
}
