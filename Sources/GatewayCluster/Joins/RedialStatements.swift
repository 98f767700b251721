// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// The statements by which a gateway finds further attempts of its failed calls.
enum RedialStatements {
    /// Microseconds by which two clocks may differ more than their gateways know.
    private static let slack = 500_000
    /// Microseconds before a failure in which a call that is tried in turn with the failed one may have begun, with clocks
    /// that differ: it bounds the rows that are read.
    private static let reach = 180_000_000

    /// Microseconds since the last time at which all living gateways had shipped what they had seen.
    ///
    /// A gateway lives that writes to the shared ledger or responds as a sibling. One that writes and cannot store its own
    /// calls has not shipped them. A dead one is not waited for.
    ///
    /// - Parameters:
    ///   - addresses: those of the siblings that respond.
    ///   - isPatient: true after an outage, when a living gateway may look dead.
    static func silence(
        _ membership: ShippingStatements.Membership, responding addresses: [String], isPatient: Bool
    ) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT coalesce(max((extract(epoch FROM clock_timestamp() - coalesce(known_at, seen_at)) * 1000000)::bigint), 0)
            FROM ledger.node WHERE id <> $1 AND adopter IS NULL AND ($3::boolean
                OR seen_at > now() - interval '\(ShippingStatements.lease) seconds' OR address = ANY ($2::text[]))
            """, [.integer(membership.node), .texts(addresses), .flag(isPatient)])
    }

    /// The first later attempt of each waiting call: same customer, caller, called number and decision, in time.
    ///
    /// Times are moved to the server's clock by the offset of each gateway. Two calls that both failed have one order at all
    /// gateways, so neither goes on as the other one and back.
    static func next(of waiting: [AwaitedRedial], _ membership: ShippingStatements.Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            next,
            [
                .integer(membership.node), .texts(waiting.map(\.callID)), .integers(waiting.map { Int64($0.caller) }),
                .texts(waiting.map(\.called)), .texts(waiting.map(\.customer)), .texts(waiting.map(\.decision)),
                .integers(waiting.map(\.beganAt)), .integers(waiting.map(\.name.refusedAt)),
                .integers(waiting.map(\.until)),
            ])
    }

    private static let began = "coalesce(other.attempt_at, other.invite_at) - node.clock_offset"

    private static let next = """
        SELECT waiting.call_id, next.call_id, next.attempt FROM ledger.node AS mine
        CROSS JOIN unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
            $9::bigint[]) AS waiting (call_id, caller, called, customer, decision, began_at, refused_at, until)
        CROSS JOIN LATERAL (
            SELECT other.call_id, coalesce(other.attempt_call_id, other.call_id) AS attempt FROM ledger.call AS other JOIN ledger.node ON node.id = other.node
            WHERE other.caller = waiting.caller AND other.direction = 1 AND other.call_id <> waiting.call_id
                AND other.invite_at > waiting.refused_at - \(reach)
                AND coalesce(other.destination::text, other.subscriber) = waiting.called
                AND other.customer IS NOT DISTINCT FROM waiting.customer AND other.decision = waiting.decision
                AND (\(began), other.call_id) > (waiting.began_at - mine.clock_offset, waiting.call_id)
                AND \(began) BETWEEN waiting.refused_at - mine.clock_offset - \(slack)
                    AND waiting.until - mine.clock_offset
            ORDER BY \(began), other.call_id LIMIT 1
        ) AS next
        WHERE mine.id = $1
        """
}
