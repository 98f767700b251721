// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

/// A ledger of more than two pieces: a call a second, each hundredth an emergency call.
@Suite("Ledger: searches in pieces")
struct CallPiecesTests {
    private static let start: Int64 = 1_767_225_600  // 2026-01-01T00:00:00Z
    private static let count = 2 * LedgerReader.piece + 1_000

    private let ledger: LedgerFixture
    private let reader: LedgerReader

    init() throws {
        ledger = try LedgerFixture()
        reader = LedgerReader(ledger.database)
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at, outcome, ended_at)
                    SELECT n, 'i' || n, 's' || n, 1, iif(n % 100 = 0, 'emergency', 'no_match'), (? + n) * 1000000,
                        iif(n % 3 = 0, 'MISSED', 'ANSWERED'), (? + n + 1) * 1000000 FROM number
                    """, arguments: [Self.count, Self.start, Self.start])
        }
    }

    private func filter(_ change: (inout CallFilter) -> Void) -> CallFilter {
        var filter = CallFilter()
        change(&filter)
        return filter
    }

    /// Gives calls of some rows another time, as a clock that was wrong for a while.
    private func set(_ rows: ClosedRange<Int64>, to seconds: Int64) throws {
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: "UPDATE call SET invite_at = ? * 1000000 WHERE id BETWEEN ? AND ?",
                arguments: [seconds, rows.lowerBound, rows.upperBound])
        }
    }

    @Test func `calls are found over the bounds of pieces, newest first`() throws {
        let calls = try reader.search(filter { $0.decisions = ["emergency"] }, limit: 1_000)
        #expect(calls.calls.map(\.row) == stride(from: Self.count, to: 0, by: -100).map { $0 })
        #expect(calls.rest == nil)
        #expect(try reader.calls(limit: 3).map(\.row) == [Self.count, Self.count - 1, Self.count - 2])
        let before = filter { ($0.before, $0.decisions) = (250, ["emergency"]) }
        #expect(try reader.calls(matching: before, limit: 9).map(\.row) == [200, 100])
        let some = filter { $0.rows = [1, 30_000, Self.count] }
        #expect(try reader.calls(matching: some, limit: 9).map(\.row) == [Self.count, 30_000, 1])
        let newest = try reader.rows(matching: filter { $0.decisions = ["emergency"] }, limit: 2)
        #expect(newest == [Self.count, Self.count - 100])
    }

    @Test func `a search without patience ends after a piece, and goes on where it ended`() throws {
        var filter = filter { $0.callIDPart = "s7" }
        var (rows, parts): ([Int64], Int) = ([], 0)
        while true {
            let search = try reader.search(filter, limit: 1_000_000, patience: .zero)
            rows += search.calls.map(\.row)
            parts += 1
            guard let rest = search.rest else { break }
            #expect(rest.before == Self.count - Int64(parts) * LedgerReader.piece + 1)
            #expect(rest.readSince == Self.start + rest.before)
            filter.before = rest.before
        }
        #expect(parts == 3)
        #expect(rows == (1...Self.count).filter { "\($0)".hasPrefix("7") }.reversed())
        let counts = try reader.counts(matching: CallFilter(), patience: .zero)
        #expect(counts.counts.values.map(\.calls).reduce(0, +) == LedgerReader.piece && counts.rest != nil)
    }

    @Test func `counts are those of all calls, with the first and the last`() throws {
        let span = filter { ($0.since, $0.until) = (Self.start + 2, Self.start + 40_000) }
        let counts = try reader.counts(matching: span).counts
        let emergency = counts.filter { $0.key.decision == "emergency" }.values
        #expect(emergency.map(\.calls).reduce(0, +) == 400)
        #expect(emergency.map(\.first).min() == (Self.start + 100) * 1_000_000)
        #expect(emergency.map(\.last).max() == (Self.start + 40_000) * 1_000_000)
        #expect(counts.values.map(\.calls).reduce(0, +) == 39_999)
        #expect(Set(counts.keys.map(\.outcome)) == ["MISSED", "ANSWERED"])
    }

    /// Rows whose clock was wrong, and its time: never set, or decades ahead. The middle of the table is looked at first.
    @Test(
        arguments: [
            (30_000...30_500, 0), (20_400...20_600, 0), (30_000...30_500, 4_070_908_800),
            (20_400...20_600, 4_070_908_800),
        ]
            as [(ClosedRange<Int64>, Int64)])
    func `a clock that was wrong for a while hides no other call`(_ rows: ClosedRange<Int64>, _ wrong: Int64) throws {
        // The ledger has no step of it.
        try set(rows, to: wrong)
        func found(_ since: Int64, _ until: Int64) throws -> Set<Int64> {
            let filter = filter {
                ($0.since, $0.until, $0.decisions) = (Self.start + since, Self.start + until, ["emergency"])
            }
            return Set(try reader.rows(matching: filter, limit: 1_000))
        }
        for (since, until) in [(10_000, 35_000), (25_000, 41_000), (0, 50_000)] as [(Int64, Int64)] {
            let expected = stride(from: 100, through: Self.count, by: 100).filter {
                (since...until).contains($0) && !rows.contains($0)
            }
            #expect(try found(since, until) == Set(expected), "\(since) to \(until)")
        }
    }

    @Test func `a known step of the clock widens the rows of a search`() throws {
        // Ten days ahead, then set back: later calls have earlier times than these.
        try set(1...20_500, to: Self.start + 10 * 86_400)
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: "INSERT INTO clock (id, set_by, at) VALUES (1, ?, ?)",
                arguments: [-10 * 86_400 * 1_000_000, (Self.start + 20_501) * 1_000_000])
        }
        let until = Self.start + 41_000
        let rows = try reader.rows(matching: filter { ($0.since, $0.until) = (Self.start, until) }, limit: 1_000_000)
        #expect(Set(rows) == Set(20_501...Self.count))
    }

    @Test func `an adopted call is found by its time, though its row is a later one`() throws {
        let adopted = Self.count + 1
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at)
                    VALUES (?, 'x', 'x', 1, 'matched', ?)
                    """, arguments: [adopted, (Self.start + 5) * 1_000_000])
            try database.execute(
                sql: "INSERT INTO adopted_call (call_id, call, gateway) VALUES ('x', ?, 'north')", arguments: [adopted])
        }
        let found = try reader.rows(matching: filter { $0.until = Self.start + 10 }, limit: 100)
        #expect(found == [adopted] + (1...10).reversed())
    }

    @Test func `no search reads the table without its bounds`() throws {
        let number = filter {
            ($0.number, $0.received, $0.numberEnd) = (E164Number("+61255501001"), "x", "1001")
        }
        let filters = [
            CallFilter(), number, filter { $0.decisions = ["no_match", "privacy"] }, filter { $0.outcome = "MISSED" },
            filter { $0.brand = "Acme" }, filter { $0.name = "Acme" }, filter { $0.trunk = "carrier" },
            filter { $0.customer = "acme" }, filter { $0.callIDPart = "x" }, filter { $0.callID = "x" },
            filter { $0.provider = "123A" }, filter { ($0.since, $0.until) = (1, 2) }, filter { $0.outcome = "OPEN" },
            filter { $0.rows = [1, 2] },
        ]
        for filter in filters {
            let conditions = CallConditions(filter)
            let plan = try ledger.database.ledger.read { database in
                let sql = """
                    EXPLAIN QUERY PLAN SELECT * FROM \(CallColumn.source) WHERE id BETWEEN ? AND ?\(conditions.sql) ORDER BY id DESC LIMIT 50
                    """
                return try Row.fetchAll(database, sql: sql, arguments: [1, 20_000] + conditions.arguments)
                    .map { $0["detail"] as String }
            }
            #expect(plan.allSatisfy { $0.hasPrefix("SEARCH call") || $0.hasPrefix("CORRELATED") }, "\(plan)")
        }
    }
}
