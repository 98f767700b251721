// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayStore
import Host
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: the newest calls, a call by its identifier and the calls of a number are found by an index, however many
/// calls there are, and every call is found once.
@Suite("Searches in many calls", .timeLimit(.minutes(8)))
struct SharedCallSearchTests {
    private static let day: Int64 = 86_400_000_000
    private static let start: Int64 = 1_795_000_000_000_000
    private static let count = 60_000

    /// A ledger with calls of thirty days by two gateways.
    private func filled(_ database: SharedDatabase) throws {
        _ = try database.shipper(try LocalLedger(), "a").ship()
        _ = try database.shipper(try LocalLedger(), "b").ship()
        try database.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, sip_call_id, direction, caller, destination, decision,
                    outcome, invite_at, ended_at, caller_received, attempt_call_id, attempt_sip_call_id)
                SELECT (SELECT min(node.id) FROM ledger.node) + i % 2, 1, i, 'id-' || i, i || '@carrier', 1,
                    4930100000000 + i % 5000, 61255500000 + i % 100, 'matched',
                    CASE WHEN i % 1000 = 7 THEN 'MISSED' ELSE 'ANSWERED' END,
                    \(Self.start) + i * \(Self.day * 30 / Int64(Self.count)), \(Self.start) + i,
                    CASE WHEN i % 10000 = 5 THEN 'Front Desk ' || i END,
                    CASE WHEN i = 333 THEN 'second-333' END, CASE WHEN i = 333 THEN '333@second' END
                FROM generate_series(1::bigint, \(Self.count)) AS i;
            ANALYZE ledger.call;
            """)
    }

    private struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let expected: [Int64]
        let change: @Sendable (inout CallFilter) -> Void
    }

    private static let cases = [
        Case(testDescription: "the newest", expected: Array(((60_000 - 49)...60_000).reversed())) { _ in },
        Case(testDescription: "a call id", expected: [31_000]) { $0.callID = "id-31000" },
        Case(testDescription: "a SIP Call-ID", expected: [17]) { $0.callID = "17@carrier" },
        Case(testDescription: "a Call-ID of a later attempt", expected: [333]) { $0.callID = "333@second" },
        Case(testDescription: "a whole Call-ID where a part is allowed", expected: [59_000]) {
            $0.callIDPart = "59000@carrier"
        },
        Case(testDescription: "no such Call-ID", expected: []) { $0.callID = "none@carrier" },
        Case(testDescription: "a caller", expected: (0..<12).map { 60_000 - 5_000 + 77 - $0 * 5_000 }) {
            $0.number = E164Number("+4930100000077")
        },
        Case(testDescription: "a called number", expected: (0..<50).map { 59_942 - $0 * 100 }) {
            $0.number = E164Number("+61255500042")
        },
    ]

    @Test func `whole identifiers and numbers read as many rows as they find`() throws {
        let shared = try SharedDatabase()
        try filled(shared)
        for example in Self.cases {
            let before = try rowsRead(shared)
            var filter = CallFilter()
            example.change(&filter)
            do {
                let reader = SharedLedgerReader(shared.address)
                let found = try reader.calls(matching: filter, limit: 50)
                #expect(found.map(\.row) == example.expected, "\(example)")
                #expect(reader.searchedSince == nil)
            }
            let read = try rowsRead(shared, after: before) - before
            #expect(read < 1_000, "\(example): \(read) rows")
        }
    }

    /// Rows that were read from the table by scans and through indexes; the server counts them when a session ends.
    private func rowsRead(_ shared: SharedDatabase, after before: Int64? = nil) throws -> Int64 {
        let deadline = SteadyClock.microseconds + 3_000_000
        while true {
            let count =
                try shared.integer(
                    """
                    SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
                    WHERE schemaname = 'ledger' AND relname = 'call'
                    """) ?? 0
            if let before, count == before, SteadyClock.microseconds < deadline {
                _ = SteadyBell().wait(.milliseconds(20))
                continue
            }
            return count
        }
    }

    @Test func `a search for a part reads all calls, from the newest backwards`() throws {
        let shared = try SharedDatabase()
        try filled(shared)
        func found(_ limit: Int = 50, _ change: (inout CallFilter) -> Void) throws -> [Int64] {
            var filter = CallFilter()
            change(&filter)
            return try SharedLedgerReader(shared.address).calls(matching: filter, limit: limit).map(\.row)
        }
        #expect(
            try found { $0.callIDPart = "d-5999" } == [
                59_999, 59_998, 59_997, 59_996, 59_995, 59_994, 59_993, 59_992, 59_991, 59_990, 5_999,
            ])
        #expect(try found(3) { $0.outcome = "MISSED" } == [59_007, 58_007, 57_007])
        #expect(try found { $0.received = "front desk" } == [50_005, 40_005, 30_005, 20_005, 10_005, 5])
        #expect(try found { $0.numberEnd = "0100000001" }.count == 12)
        let since = (Self.start + Self.day) / 1_000_000
        #expect(try found(3_000) { ($0.since, $0.until) = (since, since + 43_199) }.count == 1_000)
    }

    @Test func `pages leave out no call and repeat none, also of one microsecond`() throws {
        let shared = try SharedDatabase()
        _ = try shared.shipper(try LocalLedger(), "a").ship()
        try shared.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, decision, invite_at)
                SELECT (SELECT min(node.id) FROM ledger.node), 1 + i % 3, i / 3, 'id-' || i, 1, 'matched',
                    \(Self.start) + i / 2500
                FROM generate_series(1, 7000) AS i
            """)
        let calls = try SharedLedgerReader(shared.address).calls(matching: CallFilter(), limit: 100_000)
        #expect(calls.count == 7_000)
        #expect(Set(calls.map(\.callID)).count == 7_000)
        let times = calls.map(\.inviteAt)
        #expect(times == times.sorted(by: >))
    }

    @Test func `indexes that an operator made before the upgrade are kept`() throws {
        let (shared, ledger) = (try SharedDatabase(), try LocalLedger())
        let old = Array(SharedSchema.steps.prefix(7))
        _ = try LedgerShipper(
            PostgreSQLSession(shared.address), ledger.changes, name: "a", version: "old", schema: old
        ).ship()
        try shared.look.script("CREATE INDEX call_began ON ledger.call (invite_at)")
        _ = try shared.shipper(ledger).ship()
        let names = try shared.look.execute(
            "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'ledger' AND tablename = 'call'"
        ).map { try $0.text(0) ?? "" }
        #expect(Set(names).isSuperset(of: ["call_began", "call_name", "call_sip_name", "call_destination"]))
        #expect(!names.contains("call_invite_at"))
    }
}
