// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
import Testing

@testable import GatewayStore

/// Calls `s1` to `s300`, each with two events.
@Suite("Ledger: a call by its name, and the statements of a page")
struct CallNameTests {
    private final class Statements: Sendable {
        private let texts = Mutex<[String]>([])

        func add(_ text: String) { texts.withLock { $0.append(text) } }

        func count(_ table: String) -> Int { texts.withLock { $0.count { $0.contains("FROM \(table)") } } }
    }

    private let ledger: LedgerFixture
    private let queue: any DatabaseReader
    private let reader: LedgerReader
    private let statements = Statements()

    init() throws {
        ledger = try LedgerFixture()
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 300)
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at, outcome, ended_at, shown_event,
                        end_event)
                    SELECT n, printf('%08x-1111-4111-8111-111111111111', n), 's' || n || '@Carrier', 1, 'matched', n, 'MISSED', n,
                        2 * n, 2 * n + 1
                    FROM number;
                    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
                    SELECT shown_event, 'displayed:' || call_id, '+61255501001', '', '', '{}', 0, 0 FROM call
                    UNION ALL SELECT end_event, 'missed:' || call_id, '+61255501001', '', '', '{}', 0, 0 FROM call
                    """)
        }
        // One connection, so that all its statements are seen.
        queue = try HeraldDatabase.ledgerReader(folder: ledger.folder)
        reader = LedgerReader(queue)
        try queue.read { [statements] database in database.trace { statements.add("\($0)") } }
    }

    private func found(_ name: String, others: [String] = [], limit: Int = 20) throws -> NamedCalls {
        try reader.calls(named: CallName(name, others: others), CallFilter(), limit: limit)
    }

    private func whole(_ name: String, others: [String] = [], limit: Int = 20) throws -> [Int64]? {
        if case .whole(let calls) = try found(name, others: others, limit: limit) { calls.map(\.row) } else { nil }
    }

    private func begun(_ name: String) throws -> [Int64]? {
        if case .begun(let calls) = try found(name) { calls.map(\.row) } else { nil }
    }

    @Test func `a whole name is found before those that begin with it`() throws {
        #expect(try whole("s7@Carrier") == [7] && whole("00000007-1111-4111-8111-111111111111") == [7])
        try ledger.database.ledger.write {
            try $0.execute(sql: "UPDATE call SET sip_call_id = 's1' WHERE id IN (2, 9)")
        }
        #expect(try whole("s1") == [9, 2])
        #expect(try whole("s1", limit: 1) == [9])
    }

    @Test func `a begin is found in its case, and at most twice`() throws {
        #expect(try begun("s299") == [299] && begun("0000012c") == [300])
        #expect(try begun("s") == [300, 299])
        #expect(try begun("S299") == [] && begun("299@") == [] && begun("%") == [] && begun("_299") == [])
    }

    @Test func `another name of the call is found as a whole alone`() throws {
        #expect(try whole("unknown", others: ["s3@Carrier", "x"]) == [3])
        #expect(try begun("unknown") == [])
        guard case .begun(let calls) = try found("unknown", others: ["s3"]) else {
            Issue.record("a begin of another name is taken for the whole")
            return
        }
        #expect(calls.isEmpty)
    }

    @Test func `an attempt at another gateway and a call that went on there are found`() throws {
        try ledger.database.ledger.write {
            try $0.execute(sql: "UPDATE call SET attempt_sip_call_id = 'second@x', continued_as = 'i' WHERE id = 5")
        }
        #expect(try whole("second@x") == [5] && begun("sec") == [5])
    }

    @Test func `the table is read once for a name, and the events of all calls by one statement`() throws {
        #expect(try begun("s299") == [299])
        // Bounds, the rows of the name, and the call by its row with its bounds.
        #expect(statements.count("call WHERE id BETWEEN") == 1 && statements.count("call LEFT JOIN") == 1)
        #expect(statements.count("event") == 1)
        let calls = try reader.calls(limit: 300)
        #expect(calls.count == 300 && calls.allSatisfy { $0.events.map(\.outcome) == ["displayed", "missed"] })
        #expect(statements.count("call LEFT JOIN") == 2 && statements.count("event") == 2)
    }

    @Test func `rows and events are found by their keys`() throws {
        let name = CallName("s299", others: ["x"])
        let conditions = CallConditions(CallFilter(), named: name)
        let plans = try queue.read { database in
            let named = """
                EXPLAIN QUERY PLAN SELECT id, \(name.whole.sql) FROM call WHERE id BETWEEN ? AND ?\(conditions.sql) ORDER BY id DESC
                """
            let rows = try Row.fetchAll(
                database, sql: named, arguments: name.whole.arguments + [1, 20_000] + conditions.arguments)
            let events = try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN " + LedgerReader.eventsOfRows, arguments: ["[1,2]"])
            return (rows + events).map { $0["detail"] as String }
        }
        #expect(plans.first == "SEARCH call USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "\(plans)")
        #expect(plans.contains("SEARCH event USING INTEGER PRIMARY KEY (rowid=?)"), "\(plans)")
        #expect(!plans.contains { $0.hasPrefix("SCAN call") || $0.hasPrefix("SCAN event") }, "\(plans)")
    }
}
