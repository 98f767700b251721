// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import GatewayStore

/// A ledger of calls that a PBX reported, a row a minute for four weeks: its rows are later than their calls.
@Suite("Ledger: searches among reported calls")
struct DoorCallOrderTests {
    private static let start: Int64 = 1_767_225_600  // 2026-01-01T00:00:00Z
    private static let count = 2 * LedgerReader.piece + 1_000
    private static let minute: Int64 = 60
    private static let day: Int64 = 86_400

    private let ledger: LedgerFixture
    private let reader: LedgerReader

    init() throws {
        ledger = try LedgerFixture()
        reader = LedgerReader(ledger.database)
    }

    /// Seconds between the begin of a reported call and its row: minutes, and more than a day for each thousandth.
    private static func lateness(_ row: Int64) -> Int64 { row % 1_000 == 0 ? day + 300 : row % 7 * 600 }

    private static func began(_ row: Int64, _ isByDoor: Bool) -> Int64 {
        start + row * minute - (isByDoor ? lateness(row) : 0)
    }

    /// - Parameter interval: each so manieth call passed the gateway; 0 for none.
    private static func isByDoor(_ row: Int64, _ interval: Int64) -> Bool { interval == 0 || row % interval != 0 }

    private func fill(passingEach interval: Int64) throws {
        try ledger.database.ledger.write { database in
            // Evidence 8 is that of a report.
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n, passes) AS (
                        SELECT 1, ?1 = 1
                        UNION ALL SELECT n + 1, ?1 > 0 AND (n + 1) % max(?1, 1) = 0 FROM number WHERE n < ?2)
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at, outcome, ended_at, evidence)
                    SELECT n, 'i' || n, 's' || n, 1, 'matched',
                        (?3 + n * 60 - iif(passes, 0, iif(n % 1000 = 0, 86700, n % 7 * 600))) * 1000000,
                        'ANSWERED', (?3 + n * 60) * 1000000, iif(passes, 0, 8) FROM number
                    """, arguments: [interval, Self.count, Self.start])
        }
    }

    @Test(arguments: [0, 1_000, 50, 1] as [Int64])
    func `a row is found on the right side of a time, and near it`(interval: Int64) throws {
        try fill(passingEach: interval)
        // Behind a call that passed the order is known. Other rows have the uncertainty of a report.
        let reach = (1...CallOrder.nearby).contains(interval) ? CallOrder.nearby : DoorCalls.latest / 60_000_000 + 1
        for day in [3, 14, 27] as [Int64] {
            let row = day * Self.day / Self.minute
            let time = (Self.start + day * Self.day) * 1_000_000
            let (first, last) = try ledger.database.ledger.read { database in
                (try CallOrder.firstRow(from: time, in: database), try CallOrder.lastRow(from: time, in: database))
            }
            #expect(((row - reach)...row).contains(first ?? 0), "first row of day \(day)")
            #expect((row...(row + reach)).contains(last ?? 0), "last row of day \(day)")
        }
    }

    @Test(arguments: [0, 1_000, 50] as [Int64])
    func `a search by time finds every call, however late its row came`(interval: Int64) throws {
        try fill(passingEach: interval)
        for days in [0...1, 3...3, 9...12, 25...40] as [ClosedRange<Int64>] {
            var filter = CallFilter()
            (filter.since, filter.until) = (
                Self.start + days.lowerBound * Self.day, Self.start + days.upperBound * Self.day + 7_200
            )
            let expected = (1...Self.count).filter { row in
                let began = Self.began(row, Self.isByDoor(row, interval))
                return began >= filter.since ?? 0 && began <= filter.until ?? 0
            }
            #expect(try reader.rows(matching: filter, limit: 1_000_000) == expected.reversed(), "days \(days)")
        }
    }

    /// The clock of a PBX may be ahead of this machine's by some minutes, so its report is older than a day.
    @Test(arguments: [7, 11] as [Int64]) func `a search that ends with a late report has it`(interval: Int64) throws {
        try fill(passingEach: interval)
        for row in [3_000, 10_000, 20_000] as [Int64] where Self.isByDoor(row, interval) {
            var filter = CallFilter()
            filter.until = Self.began(row, true)
            filter.since = Self.began(row, true) - 60
            #expect(try reader.rows(matching: filter, limit: 1_000).contains(row), "row \(row)")
        }
    }

    @Test func `a search of an early day begins at that day`() throws {
        try fill(passingEach: 0)
        var filter = CallFilter()
        (filter.since, filter.until) = (Self.start + 3 * Self.day, Self.start + 3 * Self.day + 600)
        // Without patience one piece is read. The newest one has no call of that day.
        let search = try reader.search(filter, limit: 5, patience: .zero)
        #expect(search.calls.count == 5)
    }

    @Test func `no probe reads the table without its bounds`() throws {
        for sql in [CallOrder.next, CallOrder.nextInOrder] {
            let plan = try ledger.database.ledger.read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: [1, 65])
                    .map { $0["detail"] as String }
            }
            #expect(plan.first == "SEARCH call USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN call") || $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }
}
