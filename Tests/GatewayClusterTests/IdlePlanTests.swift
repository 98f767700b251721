// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// PostgreSQL chooses a plan by what it counted last.
///
/// After a night without calls it knows of no open call, so that a scan of all open calls seems to be free. By day there
/// are thousands of them, for each call that is shipped.
@Suite("Plans of the shared ledger after an hour without calls")
struct IdlePlanTests {
    private static let membership = ShippingStatements.Membership(node: 1, epoch: 1, ledger: 1)

    /// A ledger in which every call has ended, and that PostgreSQL has counted.
    private static func idle() throws -> SharedDatabase {
        let shared = try SharedDatabase()
        _ = try shared.shipper(try LocalLedger()).ship()
        try shared.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, caller, destination, decision, invite_at, ended_at)
                SELECT 1 + id % 3, 1, id, md5(id::text), 1, 493012300000 + id, 61255501001, 'matched', id, id
                FROM generate_series(1, 20000) AS id;
            ANALYZE ledger.call; ANALYZE ledger.node; ANALYZE ledger.owner;
            INSERT INTO ledger.owner (call_id, node, row_node, row_ledger, row_id, invite_at)
                SELECT md5(id::text), 1, 1, 1, id, id FROM generate_series(1, 5000) AS id;
            """)
        return shared
    }

    /// One shipped call.
    private static var shipped: ShippedCalls {
        var calls = ShippedCalls()
        (calls.ids, calls.names, calls.begins) = ([1], ["c"], [1])
        return calls
    }

    private static func plan(of command: PostgreSQLCommand, _ shared: SharedDatabase) throws -> [String] {
        try shared.look.execute("EXPLAIN " + command.sql, command.values).map { try $0.text(0) ?? "" }
    }

    @Test func `calls are looked up by their identifier, and not searched for it`() throws {
        let shared = try Self.idle()
        let commands =
            OwnerStatements.follow(Self.shipped, Self.membership)
            + AdoptionStatements.claim(2, room: 1_000, Self.membership)
        for command in commands {
            let plan = try Self.plan(of: command, shared)
            let isFoundByName = plan.contains { $0.contains("Index Cond:") && $0.contains("hashtext(") }
            let searched = plan.filter { $0.contains("Filter:") && $0.contains("call_id = ") && !isFoundByName }
            #expect(searched.isEmpty, "\(plan.joined(separator: "\n"))")
        }
    }

    @Test func `the open calls of a gateway are read, and not all of its calls`() throws {
        let shared = try Self.idle()
        let commands =
            AdoptionStatements.claim(2, room: 1_000, Self.membership)
            + AdoptionStatements.claimEarlier(room: 1_000, Self.membership)
            + [AdoptionStatements.away(Self.membership), AdoptionStatements.endedBefore(Self.membership)]
        for command in commands where command.sql.contains("ended_at IS NULL") {
            let plan = try Self.plan(of: command, shared)
            #expect(plan.contains { $0.contains("call_open") }, "\(plan.joined(separator: "\n"))")
            #expect(!plan.contains { $0.contains("Seq Scan on call") }, "\(plan.joined(separator: "\n"))")
        }
    }
}
