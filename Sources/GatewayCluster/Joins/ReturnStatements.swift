// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// The statements by which gateways find returns together.
///
/// All times are the server's clock, so clocks of gateways may differ.
enum ReturnStatements {
    /// Microseconds by which a call back may seem to begin before the end of its original.
    ///
    /// Each gateway knows the server's clock with an error.
    private static let slack = 1_000_000

    /// The last of some new facts, and their number.
    static let newest = """
        SELECT max(id), count(*) FROM (
            SELECT id FROM ledger.return_candidate
            WHERE node = $1::integer AND ledger = $2::bigint AND id > $3::bigint ORDER BY id LIMIT $4::bigint
        ) AS fact HAVING count(*) > 0
        """

    /// The call backs that new facts concern, in the order of their time: each new one with an original before it, and the
    /// first one after each new original.
    static let callBacks = """
        SELECT node, ledger, id FROM (
            SELECT back.node, back.ledger, back.id, back.at FROM ledger.return_candidate AS back
            WHERE \(new("back")) AND back.direction = 2 AND EXISTS (
                SELECT 1 FROM ledger.return_candidate AS original WHERE \(pair))
            UNION
            SELECT back.node, back.ledger, back.id, back.at FROM ledger.return_candidate AS original
            CROSS JOIN LATERAL (
                SELECT * FROM ledger.return_candidate AS back WHERE back.direction = 2 AND \(pair)
                ORDER BY back.at, back.id LIMIT 1
            ) AS back
            WHERE \(new("original")) AND original.direction = 1
        ) AS back ORDER BY at, node, id
        """

    /// Settles the originals of a call back: it returns the newest one, once.
    ///
    /// An original that a later call back settled beside a newer one is still free. A call back has a fact for each name of
    /// its subscriber, and returns a call under one of them alone.
    static let settle = """
        WITH back AS (
            SELECT * FROM ledger.return_candidate WHERE node = $1::integer AND ledger = $2::bigint AND id = $3::bigint
        ), used AS (
            SELECT returned.subscriber_key FROM ledger.returned JOIN back ON returned.return_call_id = back.call_id
        ), fitting AS (
            SELECT original.*, row_number() OVER (ORDER BY original.at DESC, original.node, original.id) AS place
            FROM back JOIN ledger.return_candidate AS original
                ON original.direction = 1 AND original.number = back.number
                AND original.subscriber_key = back.subscriber_key
                AND original.at BETWEEN back.at - $4::bigint AND back.at + \(slack)
            LEFT JOIN ledger.returned ON returned.call_id = original.call_id
            WHERE (returned.call_id IS NULL OR returned.return_call_id IS NULL AND returned.at > back.at)
                AND NOT EXISTS (SELECT 1 FROM used WHERE used.subscriber_key <> back.subscriber_key)
        ), chosen AS (
            SELECT DISTINCT ON (fitting.call_id) fitting.*,
                place = 1 AND NOT EXISTS (SELECT 1 FROM used) AS is_returned
            FROM fitting ORDER BY fitting.call_id, place
        )
        INSERT INTO ledger.returned AS returned (
            call_id, at, number, subscriber_key, brand_id, ended_at, node, ledger, call,
            return_node, return_ledger, return_call, return_call_id, is_reported)
        SELECT chosen.call_id, back.at, chosen.number, chosen.subscriber_key, chosen.brand_id, chosen.at,
            chosen.node, chosen.ledger, chosen.call,
            CASE WHEN is_returned THEN back.node END, CASE WHEN is_returned THEN back.ledger END,
            CASE WHEN is_returned THEN back.call END, CASE WHEN is_returned THEN back.call_id END, NOT is_returned
        FROM chosen CROSS JOIN back ORDER BY chosen.call_id
        ON CONFLICT (call_id) DO UPDATE SET
            at = excluded.at, return_node = excluded.return_node, return_ledger = excluded.return_ledger,
            return_call = excluded.return_call, return_call_id = excluded.return_call_id,
            is_reported = excluded.is_reported, is_noted = false
        WHERE returned.return_call_id IS NULL AND returned.at > excluded.at
        """

    /// Records the fact up to which the gateway has looked.
    static let joined = """
        UPDATE ledger.position SET joined = greatest(joined, $3::bigint) WHERE node = $1::integer AND ledger = $2::bigint
        """

    /// Settled originals that a gateway has not taken over yet.
    static let waiting = """
        SELECT returned.call_id, returned.return_call_id, returned.number, returned.brand_id, returned.ended_at,
            returned.at, event.event_id,
            CASE WHEN \(toReport) THEN returned.return_call END, CASE WHEN \(toNote) THEN returned.call END
        FROM ledger.returned
        LEFT JOIN ledger.call ON call.node = returned.node AND call.ledger = returned.ledger AND call.id = returned.call
        LEFT JOIN ledger.event
            ON event.node = returned.node AND event.ledger = returned.ledger AND event.id = call.end_event
        WHERE \(toReport) OR \(toNote) LIMIT $3::bigint
        """

    static let reported = """
        UPDATE ledger.returned SET is_reported = true FROM \(names)
        WHERE returned.call_id = name.call_id AND returned.return_call_id = name.return_call_id AND \(toReport)
        """

    static let noted = """
        UPDATE ledger.returned SET is_noted = true FROM \(names)
        WHERE returned.call_id = name.call_id AND returned.return_call_id IS NOT DISTINCT FROM name.return_call_id
            AND \(toNote)
        """

    private static let names = "unnest($3::text[], $4::text[]) AS name (call_id, return_call_id)"

    private static let toReport = """
        (returned.return_node = $1::integer AND returned.return_ledger = $2::bigint AND NOT returned.is_reported)
        """

    private static let toNote =
        "(returned.node = $1::integer AND returned.ledger = $2::bigint AND NOT returned.is_noted)"

    private static let pair = """
        original.direction = 1 AND original.number = back.number AND original.subscriber_key = back.subscriber_key
            AND original.at BETWEEN back.at - $5::bigint AND back.at + \(slack)
        """

    private static func new(_ fact: String) -> String {
        """
        \(fact).node = $1::integer AND \(fact).ledger = $2::bigint AND \(fact).id > $3::bigint AND \(fact).id <= $4::bigint
        """
    }
}
