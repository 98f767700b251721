// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import TestFixtures
import Testing

@testable import GatewayCluster

/// Requirements: gateways of two versions share a ledger during an upgrade, in either order.
@Suite("Gateways of two versions on one shared ledger")
struct MixedVersionTests {
    /// What the next version may add: columns, a table, an index.
    private static let next =
        SharedSchema.steps + [
            """
            ALTER TABLE ledger.call ADD COLUMN added bigint, ADD COLUMN also text NOT NULL DEFAULT 'none';
            ALTER TABLE ledger.node ADD COLUMN added text;
            CREATE TABLE ledger.added (id bigint PRIMARY KEY);
            CREATE INDEX call_added ON ledger.call (added) WHERE added IS NOT NULL;
            """
        ]

    /// A gateway with the rights of docs/shared-ledger.md, whose version knows some steps.
    private static func shipper(
        _ shared: SharedDatabase, _ ledger: LocalLedger, _ name: String, role: String? = nil, steps: [String]
    ) throws -> LedgerShipper {
        let server = try ThrowawayServer.shared.get()
        let address = try role.map { try server.address(shared.address.database, user: $0) } ?? shared.address
        return LedgerShipper(
            PostgreSQLSession(address), ledger.changes, name: name, version: "\(steps.count)", schema: steps)
    }

    private static func role(_ shared: SharedDatabase) throws -> String {
        let role = "gateway_" + shared.address.database
        try shared.look.execute("CREATE ROLE \(role) LOGIN")
        try grant(shared, role)
        return role
    }

    private static func grant(_ shared: SharedDatabase, _ role: String) throws {
        try shared.look.script(
            """
            GRANT USAGE ON SCHEMA ledger TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ledger TO \(role);
            """)
    }

    @Test func `a step has the columns of calls that it adds`() {
        #expect(
            SharedSchema.steps[3].hasPrefix(
                """
                ALTER TABLE ledger.call ADD COLUMN attempt_at bigint, ADD COLUMN continued_as text, \
                ADD COLUMN earlier_attempts text;

                """))
        #expect(SharedSchema.steps[6] == "ALTER TABLE ledger.call ADD COLUMN also_called text;\n")
        #expect(
            SharedSchema.steps[8].hasPrefix(
                """
                ALTER TABLE ledger.call ADD COLUMN trust bigint, ADD COLUMN trust_causes bigint, \
                ADD COLUMN signature_code bigint, ADD COLUMN origid text, ADD COLUMN provider text, ADD COLUMN signer text;

                """))
        #expect([0, 1, 2, 4, 5, 7].allSatisfy { !SharedSchema.steps[$0].contains("TABLE ledger.call ADD") })
    }

    @Test func `a step may take longer than a statement of a round`() throws {
        let (shared, ledger) = (try SharedDatabase(), try LocalLedger())
        let session = PostgreSQLSession(shared.address, timeLimit: .seconds(2))
        let slow = SharedSchema.steps + ["SELECT pg_sleep(3)"]
        try ledger.begin(1)
        let shipper = LedgerShipper(session, ledger.changes, name: "a", version: "t", schema: slow)
        #expect(try shipper.ship().rows == 1)
        #expect(session.timeLimit == .seconds(2))
    }

    @Test func `an older gateway goes on in a database that a newer one has changed`() throws {
        let (shared, old, new) = (try SharedDatabase(), try LocalLedger(), try LocalLedger())
        let older = try Self.shipper(shared, old, "old", steps: SharedSchema.steps)
        try old.begin(1)
        #expect(try older.ship().rows == 1)
        let newer = try Self.shipper(shared, new, "new", steps: Self.next)
        try new.begin(1, callID: "of-new")
        #expect(try newer.ship().rows == 1)
        // Running and after its restart.
        try old.end(1)
        #expect(try older.ship().rows == 2)
        try old.begin(2)
        #expect(try Self.shipper(shared, old, "old", steps: SharedSchema.steps).ship().rows == 1)
        #expect(try shared.calls().count == 3)
        #expect(try shared.integer("SELECT value FROM ledger.meta WHERE name = 'version'") == Int64(Self.next.count))
        #expect(try shared.integer("SELECT count(*) FROM ledger.call WHERE also = 'none'") == 3)
    }

    @Test func `verdicts of a gateway are kept while an older one ships its calls, and its calls have none`() throws {
        let (shared, new) = (try SharedDatabase(), try LocalLedger())
        let before = Array(SharedSchema.steps.prefix(8))
        let row = """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, decision, invite_at)
                SELECT min(id), 1, 1, 'of-old', 1, 'matched', 1795823000000000 FROM ledger.node
            """
        try SharedSchema.migrate(shared.look, steps: before)
        _ = try Self.shipper(shared, new, "new", steps: SharedSchema.steps).ship()
        try new.begin(1, callID: "of-new", trust: 0x1B, provider: "123A")
        #expect(try Self.shipper(shared, new, "new", steps: SharedSchema.steps).ship().rows == 1)
        // As a gateway of the version before writes it, while it runs and after its restart.
        try shared.look.execute(row)
        try SharedSchema.migrate(shared.look, steps: before)
        let view = try shared.look.execute("SELECT call_id, signature, provider FROM ledger.calls ORDER BY call_id")
        #expect(try view.map { try $0.text(0) } == ["of-new", "of-old"])
        #expect(try view.map { try $0.text(1) } == ["failed", nil])
        #expect(try view.map { try $0.text(2) } == ["123A", nil])
        #expect(Set(try shared.calls().map { $0.trust?.result }) == [.failed, nil])
    }

    @Test func `a newer gateway without the right to change tables says so, and its changes wait`() throws {
        let (shared, old, new) = (try SharedDatabase(), try LocalLedger(), try LocalLedger())
        _ = try Self.shipper(shared, old, "old", steps: SharedSchema.steps).ship()
        let role = try Self.role(shared)
        let older = try Self.shipper(shared, old, "old", role: role, steps: SharedSchema.steps)
        let newer = try Self.shipper(shared, new, "new", role: role, steps: Self.next)
        try new.begin(1)
        let error = #expect(throws: SharedSchema.Problem.self) { _ = try newer.ship() }
        #expect(error?.description.contains("lacks tables or columns of this version") == true)
        #expect(
            error?.description.contains("owner of the tables in cluster.ledger once, and repeat the GRANTs") == true)
        #expect(try newer.waiting() == 1)
        try old.begin(1, callID: "of-old")
        #expect(try older.ship().rows == 1, "the older one is not disturbed")
        // Steps 2 to 4 of docs/shared-ledger.md.
        try SharedSchema.migrate(shared.look, steps: Self.next)
        try Self.grant(shared, role)
        #expect(try newer.ship().rows == 1)
        #expect(try older.ship().isCaughtUp)
    }

    @Test func `the rights of the page suffice for all that a gateway does`() throws {
        let (shared, ledger) = (try SharedDatabase(), try LocalLedger())
        try SharedSchema.migrate(shared.look)
        let shipper = try Self.shipper(shared, ledger, "a", role: try Self.role(shared), steps: SharedSchema.steps)
        try ledger.begin(1)
        try ledger.end(1)
        try ledger.deliver(1)
        #expect(try shipper.ship().rows == 2)
        try shipper.prune(before: 2_000_000_000, returnsAfter: 0)
        #expect(
            try shared.integer("SELECT (SELECT count(*) FROM ledger.call) + (SELECT count(*) FROM ledger.event)") == 0)
    }

    @Test func `a gateway too old for a changed ledger is refused with words, and its changes wait`() throws {
        let (shared, ledger) = (try SharedDatabase(), try LocalLedger())
        let shipper = try Self.shipper(shared, ledger, "a", steps: SharedSchema.steps)
        try SharedSchema.migrate(shared.look)
        try shared.look.execute(
            "INSERT INTO ledger.meta VALUES ('oldest', $1)", [.integer(Int64(SharedSchema.steps.count) + 1)])
        try ledger.begin(1)
        let error = #expect(throws: SharedSchema.Problem.self) { _ = try shipper.ship() }
        #expect(error?.description.contains("install the version of the other gateways") == true)
        #expect(try shipper.waiting() == 1)
    }
}
