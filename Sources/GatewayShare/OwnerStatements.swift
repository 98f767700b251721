// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import PostgreSQL

/// The statements that decide which gateway a call belongs to, if several have it.
///
/// `ledger.owner` has a row for such a call alone. Its primary key makes the decision, so two gateways never both have a
/// call. `state` is 0 for an open call, 1 for an assumed end, 2 for a seen end.
enum OwnerStatements {
    /// Follows shipped calls, in the transaction that ships them.
    static func follow(_ rows: SharedRows, _ membership: ShippingStatements.Membership) -> [PostgreSQLCommand] {
        guard rows.table == .call, case .integers(let ids)? = rows.columns.first, let callIDs,
            case .texts(let names) = rows.columns[callIDs]
        else { return [] }
        let gateway: [PostgreSQLValue] = [.integer(membership.node), .integer(membership.ledger)]
        return [
            PostgreSQLCommand(join, gateway + [.texts(names)]),
            PostgreSQLCommand(follow, gateway + [.integers(ids), .texts(names)]),
        ]
    }

    /// The place of the column `call_id`.
    private static let callIDs = SharedTable.call.columns.firstIndex { $0.name == "call_id" }

    // LIMIT has the server look up each shipped row by an index. A join reads all rows of the gateway.

    /// An INVITE that two gateways have had: the call belongs to the one that shipped it first.
    private static let join = """
        INSERT INTO ledger.owner (call_id, node, row_node, row_ledger, row_id, invite_at)
        SELECT DISTINCT ON (other.call_id) other.call_id, other.node, other.node, other.ledger, other.id, other.invite_at
        FROM unnest($3::text[]) AS shipped (call_id)
        CROSS JOIN LATERAL (
            SELECT call.* FROM ledger.call JOIN ledger.node ON node.id = call.node
            WHERE call.call_id = shipped.call_id AND call.ended_at IS NULL
                AND (call.node <> $1::integer OR call.ledger <> $2::bigint)
            ORDER BY call.node LIMIT 1
        ) AS other
        ORDER BY other.call_id
        ON CONFLICT (call_id) DO NOTHING
        """

    /// Whether the end of a call was seen, from the columns that show it.
    private static let state = """
        CASE WHEN call.ended_at IS NULL THEN 0
            WHEN call.answered_at IS NOT NULL THEN 1 + (call.call_seconds IS NOT NULL)::integer
            ELSE 1 + (call.cancelled_at IS NOT NULL OR coalesce(call.status, 0) >= 300)::integer END
        """

    /// Shows the row of the owner; a seen end takes the call from an owner that has not seen one.
    private static let follow = """
        UPDATE ledger.owner AS owner SET
            node = $1, state = mine.state, row_node = $1, row_ledger = $2, row_id = mine.id,
            from_node = CASE WHEN owner.row_node = $1 THEN owner.from_node ELSE owner.row_node END,
            from_ledger = CASE WHEN owner.row_node = $1 THEN owner.from_ledger ELSE owner.row_ledger END,
            from_id = CASE WHEN owner.row_node = $1 THEN owner.from_id ELSE owner.row_id END
        FROM (
            SELECT call.id, call.call_id, \(state) AS state
            FROM unnest($3::bigint[], $4::text[]) AS shipped (id, call_id)
            CROSS JOIN LATERAL (SELECT 1 FROM ledger.owner WHERE owner.call_id = shipped.call_id LIMIT 1) AS known
            CROSS JOIN LATERAL (
                SELECT * FROM ledger.call
                WHERE call.node = $1::integer AND call.ledger = $2::bigint AND call.id = shipped.id LIMIT 1
            ) AS call
        ) AS mine
        WHERE owner.call_id = mine.call_id
            AND (owner.node = $1 AND mine.state >= owner.state
                    AND (owner.state, owner.row_node, owner.row_ledger, owner.row_id)
                        <> (mine.state, $1, $2, mine.id)
                OR mine.state = 2 AND owner.state < 2)
        """

    /// Deletes some owners of calls that began before a time, in microseconds since 1970.
    static func forget(before: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.owner WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.owner
                WHERE invite_at < $1 AND state > 0 LIMIT 5000))
            """, [.integer(before - 86_400_000_000)])
    }

    /// Deletes some records of events that a gateway has taken over and stored before a time, in seconds since 1970.
    static func forgetTaken(_ membership: ShippingStatements.Membership, before: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.taken_event WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.taken_event
                WHERE taker = $1 AND is_stored AND taken_at < to_timestamp($2::bigint) LIMIT 5000))
            """, [.integer(membership.node), .integer(before)])
    }
}
