// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// The statements of adoption: the fence, and what an adopter claims and reads.
enum AdoptionStatements {
    typealias Membership = ShippingStatements.Membership

    /// Most calls and most events that one round takes over.
    static let mostAtOnce = 1_000

    /// Gateways whose lease has ended and that nobody has adopted yet.
    static func silent(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT id, name, address, epoch, extract(epoch FROM now() - seen_at)::bigint, adopter FROM ledger.node
            WHERE id <> $1 AND seen_at < now() - interval '\(ShippingStatements.lease) seconds' AND address IS NOT NULL
                AND (adopter IS NULL OR adopter = $1 AND adopted_at IS NULL)
            ORDER BY id
            """, [.integer(membership.node)])
    }

    /// Fences a silent gateway: changes one row for one gateway, however many try.
    static func fence(_ node: Int64, epoch: Int64, _ membership: Membership) -> [PostgreSQLCommand] {
        [
            ShippingStatements.beat(membership),
            PostgreSQLCommand(
                """
                UPDATE ledger.node SET epoch = epoch + 1, claimed_epoch = epoch + 1, adopter = $1, adopted_at = NULL
                WHERE id = $2 AND epoch = $3 AND adopter IS NULL
                    AND seen_at < now() - interval '\(ShippingStatements.lease) seconds'
                """, [.integer(membership.node), .integer(node), .integer(epoch)]),
            // Adoptions that the silent gateway had begun and not ended go on here.
            PostgreSQLCommand(
                """
                UPDATE ledger.node SET adopter = $1 WHERE adopter = $2 AND adopted_at IS NULL
                    AND EXISTS (SELECT 1 FROM ledger.node AS fenced WHERE fenced.id = $2 AND fenced.adopter = $1)
                """, [.integer(membership.node), .integer(node)]),
        ]
    }

    /// Claims some open calls and some waiting events of a gateway.
    ///
    /// The lock on its row orders this against its return: it has either lost a call before it registers, or keeps it.
    static func claim(_ node: Int64, room: Int, _ membership: Membership) -> [PostgreSQLCommand] {
        let values: [PostgreSQLValue] = [.integer(membership.node), .integer(node), .integer(Int64(room))]
        let lock = "SELECT id FROM ledger.node WHERE id = $2 AND adopter = $1 FOR UPDATE"
        return [
            ShippingStatements.beat(membership), PostgreSQLCommand(lock, Array(values.prefix(2))),
            PostgreSQLCommand(claimCalls, values),
            PostgreSQLCommand(claimEvents, values),
        ]
    }

    /// Claims open calls of an earlier ledger file of this gateway, such as that of a lost disk.
    static func claimEarlier(room: Int, _ membership: Membership) -> [PostgreSQLCommand] {
        let values: [PostgreSQLValue] = [
            .integer(membership.node), .integer(membership.ledger), .integer(Int64(room)),
        ]
        return [
            ShippingStatements.beat(membership), PostgreSQLCommand(claimEarlierCalls, values),
            PostgreSQLCommand(claimEarlierEvents, values),
        ]
    }

    /// The condition of the index of a gateway's open calls.
    private static let isOpen = "call.ended_at IS NULL AND call.node > 0"

    /// A call that a living gateway has too is left to it.
    private static let claimCalls = """
        INSERT INTO ledger.owner AS owner
            (call_id, node, is_adopted, row_node, row_ledger, row_id, from_node, from_ledger, from_id, invite_at)
        SELECT DISTINCT ON (open.call_id) open.call_id, coalesce(twin.node, $1), twin.node IS NULL,
            coalesce(twin.node, open.node), coalesce(twin.ledger, open.ledger), coalesce(twin.id, open.id),
            open.node, open.ledger, open.id, open.invite_at
        FROM (
            SELECT call.node, call.ledger, call.id, call.call_id, call.invite_at, coalesce(owner.is_adopted, false) AS moved
            FROM ledger.call LEFT JOIN ledger.owner ON owner.call_id = call.call_id
            WHERE call.node = $2 AND \(isOpen) AND (owner.call_id IS NULL OR owner.node = $2 AND owner.state = 0)
            UNION ALL
            SELECT call.node, call.ledger, call.id, call.call_id, call.invite_at, true
            FROM ledger.owner JOIN ledger.call
                ON call.node = owner.row_node AND call.ledger = owner.row_ledger AND call.id = owner.row_id
            WHERE owner.node = $2 AND owner.state = 0 AND owner.row_node <> owner.node
            LIMIT $3
        ) AS open
        LEFT JOIN LATERAL (
            SELECT other.node, other.ledger, other.id FROM ledger.call AS other JOIN ledger.node ON node.id = other.node
            WHERE NOT open.moved AND other.call_id = open.call_id AND other.ended_at IS NULL
                AND other.node <> open.node AND other.node <> $1 AND node.adopter IS NULL
            LIMIT 1
        ) AS twin ON true
        WHERE EXISTS (SELECT 1 FROM ledger.node WHERE id = $2 AND adopter = $1)
        ORDER BY open.call_id
        ON CONFLICT (call_id) DO UPDATE SET node = excluded.node, is_adopted = excluded.is_adopted,
            row_node = CASE WHEN excluded.is_adopted THEN owner.row_node ELSE excluded.row_node END,
            row_ledger = CASE WHEN excluded.is_adopted THEN owner.row_ledger ELSE excluded.row_ledger END,
            row_id = CASE WHEN excluded.is_adopted THEN owner.row_id ELSE excluded.row_id END
        WHERE owner.node = $2 AND owner.state = 0
        """

    private static let claimEarlierCalls = """
        INSERT INTO ledger.owner AS owner
            (call_id, node, is_adopted, row_node, row_ledger, row_id, from_node, from_ledger, from_id, invite_at)
        SELECT DISTINCT ON (call.call_id) call.call_id, $1::integer, true, call.node, call.ledger, call.id,
            call.node, call.ledger, call.id, call.invite_at
        FROM ledger.call WHERE call.node = $1 AND \(isOpen) AND call.ledger <> $2
            AND NOT EXISTS (SELECT 1 FROM ledger.owner WHERE owner.call_id = call.call_id)
        ORDER BY call.call_id LIMIT $3
        ON CONFLICT (call_id) DO NOTHING
        """

    private static let claimEvents = """
        INSERT INTO ledger.taken_event AS taken (node, ledger, id, taker)
        SELECT waiting.node, waiting.ledger, waiting.id, $1::integer FROM (
            SELECT event.node, event.ledger, event.id FROM ledger.event
            WHERE event.node = $2 AND event.state = 0 AND NOT EXISTS (
                SELECT 1 FROM ledger.taken_event AS known
                WHERE known.node = event.node AND known.ledger = event.ledger AND known.id = event.id)
            UNION ALL
            SELECT node, ledger, id FROM ledger.taken_event WHERE taker = $2 AND NOT is_stored
            LIMIT $3
        ) AS waiting
        WHERE EXISTS (SELECT 1 FROM ledger.node WHERE id = $2 AND adopter = $1)
        ON CONFLICT (node, ledger, id) DO UPDATE SET taker = excluded.taker
        """

    /// A restored copy of the file may have the same event, and sends it anyway.
    private static let claimEarlierEvents = """
        INSERT INTO ledger.taken_event (node, ledger, id, taker, is_stored)
        SELECT event.node, event.ledger, event.id, $1::integer, event.key IN (
            SELECT own.key FROM ledger.event AS own WHERE own.node = $1 AND own.ledger = $2 AND own.state = 0)
        FROM ledger.event
        WHERE event.node = $1 AND event.state = 0 AND event.ledger <> $2 AND NOT EXISTS (
            SELECT 1 FROM ledger.taken_event AS known
            WHERE known.node = event.node AND known.ledger = event.ledger AND known.id = event.id)
        LIMIT $3
        ON CONFLICT (node, ledger, id) DO NOTHING
        """

    /// Calls that this gateway has claimed and that are not in its own rows yet.
    static func claimedCalls(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT node.name, node.address, \(columns(.call)) FROM ledger.owner
            JOIN ledger.call ON call.node = owner.row_node AND call.ledger = owner.row_ledger AND call.id = owner.row_id
            JOIN ledger.node ON node.id = call.node
            WHERE owner.node = $1 AND owner.state = 0 AND (owner.row_node, owner.row_ledger) <> ($1::integer, $2::bigint)
                AND call.ended_at IS NULL
            LIMIT \(mostAtOnce)
            """, [.integer(membership.node), .integer(membership.ledger)])
    }

    /// Events that this gateway has claimed and that are not in its own rows yet.
    static func claimedEvents(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT node.name, node.address, event.node, event.ledger, \(columns(.event)) FROM ledger.taken_event AS taken
            JOIN ledger.event ON event.node = taken.node AND event.ledger = taken.ledger AND event.id = taken.id
            JOIN ledger.node ON node.id = event.node
            WHERE taken.taker = $1 AND NOT taken.is_stored
            LIMIT \(mostAtOnce)
            """, [.integer(membership.node)])
    }

    /// Records that claimed events are in this gateway's own rows.
    static func stored(_ events: [ClaimedEvent], _ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            UPDATE ledger.taken_event AS taken SET is_stored = true
            FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS mine (node, ledger, id)
            WHERE taken.node = mine.node AND taken.ledger = mine.ledger AND taken.id = mine.id AND taken.taker = $1
            """,
            [
                .integer(membership.node), .integers(events.map(\.node)), .integers(events.map(\.ledger)),
                .integers(events.map(\.id)),
            ])
    }

    /// An event that this gateway has claimed.
    struct ClaimedEvent: Hashable {
        let node: Int64
        let ledger: Int64
        let id: Int64
    }

    /// Ends the adoption of a gateway.
    static func finish(_ node: Int64, _ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            "UPDATE ledger.node SET adopted_at = now() WHERE id = $2 AND adopter = $1",
            [.integer(membership.node), .integer(node)])
    }

    /// Open calls of this gateway that belong to another one.
    static func away(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT owner.call_id, node.name FROM ledger.call JOIN ledger.owner ON owner.call_id = call.call_id
            JOIN ledger.node ON node.id = owner.node
            WHERE call.node = $1 AND call.ledger = $2 AND \(isOpen) AND owner.is_adopted AND owner.node <> $1
            """, [.integer(membership.node), .integer(membership.ledger)])
    }

    /// Open calls of this gateway whose end the shared ledger has from another copy of its file, or from an adopter.
    static func endedBefore(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT node.name, node.address, \(columns(.call)) FROM ledger.call AS mine
            JOIN ledger.owner ON owner.call_id = mine.call_id
            JOIN ledger.call ON call.node = owner.row_node AND call.ledger = owner.row_ledger AND call.id = owner.row_id
            JOIN ledger.node ON node.id = call.node
            WHERE mine.node = $1 AND mine.ledger = $2 AND mine.ended_at IS NULL AND mine.node > 0
                AND owner.state > 0 AND (owner.node = $1 OR owner.is_adopted)
                AND (owner.row_node, owner.row_ledger) <> ($1::integer, $2::bigint) AND call.ended_at IS NOT NULL
            """, [.integer(membership.node), .integer(membership.ledger)])
    }

    /// Those of some calls that have ended at another gateway, with the row of their end.
    static func ended(_ calls: [String], _ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT node.name, node.address, \(columns(.call)) FROM ledger.owner
            JOIN ledger.call ON call.node = owner.row_node AND call.ledger = owner.row_ledger AND call.id = owner.row_id
            JOIN ledger.node ON node.id = call.node
            WHERE owner.call_id = ANY ($2::text[]) AND owner.state > 0 AND owner.node <> $1
            """, [.integer(membership.node), .texts(calls)])
    }

    private static func columns(_ table: SharedTable) -> String {
        table.columns.map { "\(table.name).\($0.name)" }.joined(separator: ", ")
    }
}
