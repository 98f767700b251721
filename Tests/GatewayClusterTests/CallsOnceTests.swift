// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: `ledger.calls` lists each call once, because bills are made from it.
///
/// An INVITE that is repeated at another gateway gives both a row.
@Suite("A call of two gateways in the list of calls")
struct CallsOnceTests {
    private let shared: SharedDatabase
    private let (a, b): (LocalLedger, LocalLedger)

    init() throws { (shared, a, b) = (try SharedDatabase(), try LocalLedger(), try LocalLedger()) }

    private func shown() throws -> [String] {
        try shared.look.execute("SELECT gateway || ' ' || outcome FROM ledger.calls").map { try $0.text(0) ?? "" }
    }

    /// When each gateway ships the call: as an open one, or only after its end.
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `it is listed once`(aShipsBegin: Bool, bShipsBegin: Bool) throws {
        let (first, second) = (shared.shipper(a, "a"), shared.shipper(b, "b"))
        for (ledger, shipper, shipsBegin) in [(a, first, aShipsBegin), (b, second, bShipsBegin)] {
            try ledger.begin(1, callID: "call")
            if shipsBegin { _ = try shipper.ship() }
        }
        for (ledger, shipper) in [(a, first), (b, second)] {
            try ledger.end(1)
            _ = try shipper.ship()
        }
        let shown = try shown()
        #expect(shown.count == 1, "\(shown)")
        #expect(shown.allSatisfy { $0.hasSuffix("ANSWERED") })
    }

    @Test func `also if both gateways commit at the same moment`() throws {
        let (first, second) = (shared.shipper(a, "a"), shared.shipper(b, "b"))
        for shipper in [first, second] { _ = try shipper.ship() }
        for ledger in [a, b] {
            try ledger.begin(1, callID: "call")
            try ledger.end(1)
        }
        // The row of a is written and not committed while b ships.
        let transaction = PostgreSQLSession(shared.address)
        try transaction.transaction { session in
            try session.execute(
                """
                INSERT INTO ledger.call (node, ledger, id, call_id, direction, decision, invite_at, ended_at, outcome, call_seconds,
                    answered_at)
                SELECT id, ledger, 1, 'call', 1, 'matched', 1795823001000000, 1795823061000000, 'ANSWERED', 60,
                    1795823002000000 FROM ledger.node WHERE name = 'a'
                """)
            _ = try second.ship()
        }
        #expect(try shown().count == 2)
        _ = try second.ship()
        #expect(try shown() == ["a ANSWERED"], "the next transaction looks again")
        _ = try second.ship()
        _ = try first.ship()
        #expect(try shown().count == 1)
    }

    @Test func `an end that was seen is shown, and not one that was assumed`() throws {
        for (ledger, name, isSeen) in [(a, "a", false), (b, "b", true)] {
            try ledger.begin(1, callID: "call")
            try ledger.end(1)
            try ledger.files.ledger.write { database in
                try database.execute(
                    sql: "UPDATE call SET answered_at = invite_at, call_seconds = ?", arguments: [isSeen ? 60 : nil])
            }
            _ = try shared.shipper(ledger, name).ship()
        }
        #expect(try shown() == ["b ANSWERED"])
    }
}
