// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// Calls of one transaction, by their rows and their identifiers.
struct ShippedCalls {
    var ids: [Int64?] = []
    var names: [String?] = []
    /// Times of their INVITEs, microseconds since 1970.
    var begins: [Int64?] = []

    init() {}

    init(in changes: SharedChanges) { self.init(changes) { _ in true } }

    /// Calls that have ended, so that perhaps no later transaction has them.
    init(endedIn changes: SharedChanges) { self.init(changes) { $0 != nil } }

    private init(_ changes: SharedChanges, where isWanted: (_ endedAt: Int64?) -> Bool) {
        for rows in changes.rows where rows.table == .call {
            guard let name = Self.name, let end = Self.end, let begin = Self.begin,
                case .integers(let ids)? = rows.columns.first, case .texts(let names) = rows.columns[name],
                case .integers(let ends) = rows.columns[end], case .integers(let begins) = rows.columns[begin]
            else { continue }
            let places = ids.indices.filter { isWanted(ends[$0]) }
            self.ids += places.map { ids[$0] }
            self.names += places.map { names[$0] }
            self.begins += places.map { begins[$0] }
        }
    }

    private static let name = SharedTable.call.columns.firstIndex { $0.name == "call_id" }
    private static let begin = SharedTable.call.columns.firstIndex { $0.name == "invite_at" }
    private static let end = SharedTable.call.columns.firstIndex { $0.name == "ended_at" }

    static func + (_ first: ShippedCalls, _ second: ShippedCalls) -> ShippedCalls {
        var both = first
        both.ids += second.ids
        both.names += second.names
        both.begins += second.begins
        return both
    }
}

/// The statements that decide which gateway a call belongs to, if several have it.
///
/// `ledger.owner` has a row for such a call alone. Its primary key makes the decision, so two gateways never both have a
/// call. `state` is 0 for an open call, 1 for an assumed end, 2 for a seen end.
enum OwnerStatements {
    /// Follows shipped calls, in the transaction that ships them.
    static func follow(_ calls: ShippedCalls, _ membership: ShippingStatements.Membership) -> [PostgreSQLCommand] {
        guard !calls.ids.isEmpty else { return [] }
        let gateway: [PostgreSQLValue] = [.integer(membership.node), .integer(membership.ledger)]
        return [
            PostgreSQLCommand(join, gateway + [.texts(calls.names), .integers(calls.begins)]),
            PostgreSQLCommand(follow, gateway + [.integers(calls.ids), .texts(calls.names)]),
        ]
    }

    // LIMIT has the server look up each shipped row by an index. A join reads all rows of the gateway.

    /// A call of which another ledger file has a row too: it belongs to the one that shipped it first, open or ended.
    ///
    /// The file is that of another gateway that had the INVITE, or another copy of this one. The index has the hour of a
    /// call first. Clocks that differ by less than two hours find each other's calls.
    private static let join = """
        INSERT INTO ledger.owner (call_id, node, state, row_node, row_ledger, row_id, invite_at)
        SELECT DISTINCT ON (other.call_id)
            other.call_id, other.node, other.state, other.node, other.ledger, other.id, other.invite_at
        FROM unnest($3::text[], $4::bigint[]) AS shipped (call_id, invite_at)
        CROSS JOIN LATERAL (
            SELECT call.*, \(state) AS state FROM ledger.call JOIN ledger.node ON node.id = call.node
            WHERE (call.invite_at / 3600000000)::integer = ANY (ARRAY[\(hours)])
                AND hashtext(call.call_id) = hashtext(shipped.call_id) AND call.call_id = shipped.call_id
                AND (call.node <> $1::integer OR call.ledger <> $2::bigint)
            ORDER BY \(state) DESC, call.node LIMIT 1
        ) AS other
        ORDER BY other.call_id
        ON CONFLICT (call_id) DO NOTHING
        """

    private static let hours = (-2...2).map { "(shipped.invite_at / 3600000000)::integer + \($0)" }.joined(
        separator: ", ")

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
                WHERE invite_at < $1 AND state > 0 LIMIT 2000))
            """, [.integer(before - 86_400_000_000)])
    }

    /// Deletes some records of events that gateways have taken over before a time, in seconds since 1970.
    static func forgetTaken(before: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.taken_event WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.taken_event
                WHERE taken_at < to_timestamp($1::bigint) LIMIT 2000))
            """, [.integer(before)])
    }
}
