// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// The tables of the shared ledger, in the schema `ledger` of the database.
///
/// Steps are additive: a released step is never changed, and each adds tables, columns or indexes that older gateways
/// ignore. So gateways of two versions share a ledger during an upgrade. `docs/shared-ledger.md` describes the tables
/// for reports.
enum SharedSchema {
    /// The schema does not fit this gateway.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Applies missing steps; needs no right to create tables if none is missing.
    ///
    /// - Parameter steps: those of a version of this program; all versions have the same first ones.
    static func migrate(_ session: PostgreSQLSession, steps: [String] = steps) throws {
        if let (present, oldest) = try present(session) {
            guard oldest <= steps.count else { throw newer(session) }
            if present >= steps.count { return }
        }
        do {
            try apply(steps, session)
        } catch let error as PostgreSQLError where ["23505", "42P06", "42P07"].contains(error.state) {
            // Another gateway made the same schema at the same moment.
            try apply(steps, session)
        } catch let error as PostgreSQLError where error.cause == .forbidden {
            throw Problem(
                description: """
                    the shared ledger lacks tables or columns of this version, and the role may not make them: \(error). \
                    Start one gateway with the owner of the tables in cluster.ledger once, and repeat the GRANTs of \
                    docs/shared-ledger.md
                    """)
        }
    }

    private static func newer(_ session: PostgreSQLSession) -> Problem {
        Problem(
            description: """
                the shared ledger at \(session.address) has been changed by a newer herald that this one does not \
                understand; install the version of the other gateways
                """)
    }

    private static func apply(_ steps: [String], _ session: PostgreSQLSession) throws {
        let version = Int64(steps.count)
        try session.transaction { session in
            try session.script(
                """
                CREATE SCHEMA IF NOT EXISTS ledger;
                CREATE TABLE IF NOT EXISTS ledger.meta (name text PRIMARY KEY, value bigint NOT NULL);
                INSERT INTO ledger.meta VALUES ('version', 0) ON CONFLICT DO NOTHING;
                """)
            // The lock makes a second gateway wait for the first.
            let row = try session.execute("SELECT value FROM ledger.meta WHERE name = 'version' FOR UPDATE").first
            let present = try row?.integer(0) ?? 0
            // An index of many calls takes minutes.
            let usual = session.timeLimit
            session.timeLimit = .seconds(3_600)
            defer { session.timeLimit = usual }
            for step in steps.dropFirst(Int(present)) { try session.script(step) }
            if present < version {
                try session.execute("UPDATE ledger.meta SET value = $1 WHERE name = 'version'", [.integer(version)])
            }
        }
    }

    /// The version in the database, and the oldest one whose programs can use it; nil without a schema.
    ///
    /// The row `oldest` is for a later change that is not additive.
    private static func present(_ session: PostgreSQLSession) throws -> (version: Int64, oldest: Int64)? {
        let exists = try session.execute("SELECT to_regclass('ledger.meta') IS NOT NULL").first?.flag(0)
        guard exists == true else { return nil }
        var values: [String: Int64] = [:]
        for row in try session.execute("SELECT name, value FROM ledger.meta WHERE name IN ('version', 'oldest')") {
            values[try row.text(0) ?? ""] = try row.integer(1)
        }
        return values["version"].map { ($0, values["oldest"] ?? 0) }
    }

    private static func columns(_ table: SharedTable, notNull: Set<String>) -> String {
        table.columns.filter { $0.step == 1 }.map { column in
            "\(column.name) \(column.sqlType)\(notNull.contains(column.name) ? " NOT NULL" : "")"
        }.joined(separator: ",\n    ")
    }

    /// All steps: first the columns of calls that a step adds, then its statements.
    static let steps: [String] = {
        let columns = SharedTable.call.columns
        let last = max(statements.count, columns.map(\.step).max() ?? 1)
        return (1...last).map { step in
            let added = columns.filter { step > 1 && $0.step == step }.map { "ADD COLUMN \($0.name) \($0.sqlType)" }
            let table = added.isEmpty ? "" : "ALTER TABLE ledger.call \(added.joined(separator: ", "));\n"
            return table + (step > statements.count ? "" : statements[step - 1])
        }
    }()

    /// The statements of each step; a step that only adds columns of calls has none.
    private static let statements = [
        """
        CREATE TABLE ledger.node (
            id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            ledger bigint NOT NULL,
            epoch bigint NOT NULL DEFAULT 1,
            claimed_epoch bigint NOT NULL DEFAULT 1,
            seen_at timestamptz NOT NULL DEFAULT now(),
            version text,
            CONSTRAINT fenced CHECK (claimed_epoch = epoch)
        );
        CREATE TABLE ledger.position (
            node integer NOT NULL,
            ledger bigint NOT NULL,
            sequence bigint NOT NULL,
            PRIMARY KEY (node, ledger)
        );
        CREATE TABLE ledger.call (
            node integer NOT NULL,
            ledger bigint NOT NULL,
            \(columns(.call, notNull: ["id", "call_id", "direction", "invite_at"])),
            PRIMARY KEY (node, ledger, id)
        ) WITH (fillfactor = 80);
        CREATE INDEX call_invite_at ON ledger.call USING brin (invite_at);
        CREATE INDEX call_open ON ledger.call (node) WHERE ended_at IS NULL;
        CREATE TABLE ledger.event (
            node integer NOT NULL,
            ledger bigint NOT NULL,
            \(columns(.event, notNull: ["id", "key", "state"])),
            PRIMARY KEY (node, ledger, id)
        ) WITH (fillfactor = 80);
        CREATE INDEX event_created_at ON ledger.event USING brin (created_at);
        CREATE INDEX event_waiting ON ledger.event (node) WHERE state = 0;
        CREATE VIEW ledger.calls AS SELECT
            node.name AS gateway, call.call_id, call.sip_call_id,
            CASE call.direction WHEN 1 THEN 'inbound' ELSE 'outbound' END AS direction, call.trunk, call.customer,
            '+' || call.caller AS caller, '+' || call.destination AS destination, call.subscriber, call.brand_name,
            call.decision, to_timestamp(call.invite_at / 1e6) AS invite_at,
            to_timestamp(call.answered_at / 1e6) AS answered_at, to_timestamp(call.ended_at / 1e6) AS ended_at,
            coalesce(call.outcome, 'OPEN') AS outcome, call.ring_seconds, call.call_seconds, call.status, call.q850,
            to_timestamp(call.returned_at / 1e6) AS returned_at
        FROM ledger.call JOIN ledger.node ON node.id = call.node;
        """,
        """
        ALTER TABLE ledger.node ADD COLUMN address text, ADD COLUMN adopter integer, ADD COLUMN adopted_at timestamptz;
        CREATE INDEX call_open_id ON ledger.call (call_id) WHERE ended_at IS NULL;
        CREATE TABLE ledger.owner (
            call_id text PRIMARY KEY,
            node integer NOT NULL,
            state smallint NOT NULL DEFAULT 0,
            is_adopted boolean NOT NULL DEFAULT false,
            row_node integer NOT NULL, row_ledger bigint NOT NULL, row_id bigint NOT NULL,
            from_node integer, from_ledger bigint, from_id bigint,
            invite_at bigint NOT NULL
        ) WITH (fillfactor = 80);
        CREATE INDEX owner_open ON ledger.owner (node) WHERE state = 0;
        CREATE INDEX owner_invite_at ON ledger.owner USING brin (invite_at);
        CREATE TABLE ledger.taken_event (
            node integer NOT NULL, ledger bigint NOT NULL, id bigint NOT NULL,
            taker integer NOT NULL,
            is_stored boolean NOT NULL DEFAULT false,
            taken_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (node, ledger, id)
        ) WITH (fillfactor = 80);
        CREATE INDEX taken_event_waiting ON ledger.taken_event (taker) WHERE NOT is_stored;
        """,
        // Signals of a call are found by its identifier too, for a gateway that takes the call over.
        """
        CREATE TABLE ledger.call_signal (
            node integer NOT NULL,
            ledger bigint NOT NULL,
            \(columns(.signal, notNull: ["id", "at", "call_id", "bytes"])),
            PRIMARY KEY (node, ledger, id)
        );
        CREATE INDEX call_signal_call ON ledger.call_signal (call_id);
        CREATE INDEX call_signal_other ON ledger.call_signal (other_call_id) WHERE other_call_id IS NOT NULL;
        CREATE INDEX call_signal_at ON ledger.call_signal USING brin (at);
        CREATE TABLE ledger.return_candidate (
            node integer NOT NULL,
            ledger bigint NOT NULL,
            \(columns(.returnCandidate, notNull: ["id", "at", "direction", "call", "number", "call_id", "subscriber_key"])),
            PRIMARY KEY (node, ledger, id)
        );
        CREATE INDEX return_candidate_original ON ledger.return_candidate (number, subscriber_key, at) WHERE direction = 1;
        CREATE INDEX return_candidate_call_back ON ledger.return_candidate (number, subscriber_key, at) WHERE direction = 2;
        CREATE INDEX return_candidate_at ON ledger.return_candidate USING brin (at);
        CREATE TABLE ledger.returned (
            call_id text PRIMARY KEY,
            at bigint NOT NULL,
            number bigint NOT NULL,
            subscriber_key text NOT NULL,
            brand_id text,
            ended_at bigint NOT NULL,
            node integer NOT NULL,
            ledger bigint NOT NULL,
            call bigint NOT NULL,
            return_node integer,
            return_ledger bigint,
            return_call bigint,
            return_call_id text,
            is_reported boolean NOT NULL,
            is_noted boolean NOT NULL DEFAULT false
        );
        CREATE UNIQUE INDEX returned_once ON ledger.returned (return_call_id) WHERE return_call_id IS NOT NULL;
        CREATE INDEX returned_to_report ON ledger.returned (return_node, return_ledger) WHERE NOT is_reported;
        CREATE INDEX returned_to_note ON ledger.returned (node, ledger) WHERE NOT is_noted;
        CREATE INDEX returned_at ON ledger.returned USING brin (at);
        ALTER TABLE ledger.position ADD COLUMN joined bigint NOT NULL DEFAULT 0;
        \(calls(where: belongsHere))
        """,
        """
        ALTER TABLE ledger.node ADD COLUMN clock_offset bigint NOT NULL DEFAULT 0;
        CREATE INDEX call_caller ON ledger.call (caller, invite_at);
        \(calls(where: isShown))
        """,
        // `node > 0` is true for all rows. A statement without it cannot use the index. After an hour without calls
        // PostgreSQL expects no open call, and would search this index for an identifier instead of using call_open_id.
        """
        DROP INDEX ledger.call_open;
        CREATE INDEX call_open ON ledger.call (node) WHERE ended_at IS NULL AND node > 0;
        """,
        // The rows of a call at all gateways, whether it has ended or not. New entries of the index go to the places of the last
        // hour.
        """
        CREATE INDEX IF NOT EXISTS call_name ON ledger.call (((invite_at / 3600000000)::integer), hashtext(call_id));
        ALTER TABLE ledger.node ADD COLUMN known_at timestamptz;
        ALTER TABLE ledger.taken_event ADD COLUMN is_settled boolean NOT NULL DEFAULT false;
        UPDATE ledger.taken_event SET is_settled = is_stored;
        CREATE INDEX taken_event_unsettled ON ledger.taken_event (taker) WHERE NOT is_settled;
        """,
        "",
        // New entries of an index go to the places of the last hour, so that writing needs few pages of it in memory. The names
        // are fixed: an operator with many calls makes the indexes before the upgrade, while gateways write.
        """
        CREATE INDEX IF NOT EXISTS call_began ON ledger.call (invite_at);
        CREATE INDEX IF NOT EXISTS call_sip_name ON ledger.call (((invite_at / 3600000000)::integer), hashtext(sip_call_id));
        CREATE INDEX IF NOT EXISTS call_destination ON ledger.call (destination, invite_at) WHERE destination IS NOT NULL;
        CREATE INDEX IF NOT EXISTS call_attempt ON ledger.call (attempt_call_id) WHERE attempt_call_id IS NOT NULL;
        CREATE INDEX IF NOT EXISTS call_sip_attempt ON ledger.call (attempt_sip_call_id)
            WHERE attempt_sip_call_id IS NOT NULL;
        CREATE INDEX IF NOT EXISTS call_parties ON ledger.call USING gin
            (string_to_array(translate(also_called, chr(10), ' '), ' ')) WHERE also_called IS NOT NULL;
        CREATE INDEX IF NOT EXISTS call_received ON ledger.call (invite_at) WHERE caller_received IS NOT NULL;
        DROP INDEX IF EXISTS ledger.call_invite_at;
        """,
        calls(where: isShown, signature),
        calls(where: isShown, signature + nameOrigin),
    ]

    /// The settings of a gateway's connection.
    ///
    /// A plan that was made while a table was empty would be kept while it grows. Planning takes less than a millisecond,
    /// a round has few statements, and compiled plans never pay for those.
    static let setup =
        "SELECT set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false)"

    /// The view for reports.
    ///
    /// - Parameter further: columns behind those of the first steps, each with a comma before it.
    private static func calls(where condition: String, _ further: String = "") -> String {
        """
        CREATE OR REPLACE VIEW ledger.calls AS SELECT
            node.name AS gateway, call.call_id, call.sip_call_id,
            CASE call.direction WHEN 1 THEN 'inbound' ELSE 'outbound' END AS direction, call.trunk, call.customer,
            '+' || call.caller AS caller, '+' || call.destination AS destination, call.subscriber, call.brand_name,
            call.decision, to_timestamp(call.invite_at / 1e6) AS invite_at,
            to_timestamp(call.answered_at / 1e6) AS answered_at, to_timestamp(call.ended_at / 1e6) AS ended_at,
            coalesce(call.outcome, 'OPEN') AS outcome, call.ring_seconds, call.call_seconds, call.status, call.q850,
            to_timestamp(coalesce(call.returned_at, returned.at) / 1e6) AS returned_at\(further)
        FROM ledger.call JOIN ledger.node ON node.id = call.node
            LEFT JOIN ledger.returned ON returned.call_id = call.call_id AND returned.return_call_id IS NOT NULL
        WHERE \(condition);
        """
    }

    /// The verdict of a call, from the bits of `TrustEvidence.facts`; null for a call without one.
    private static let signature = """
        ,
            (ARRAY['none', 'passed', 'passed', 'passed', 'passed', 'failed'])[((call.trust >> 1) & 7)::integer + 1]
                AS signature,
            (ARRAY['A', 'B', 'C'])[((call.trust >> 1) & 7)::integer] AS attestation, call.provider, call.signer,
            call.origid, call.signature_code, (call.trust & 16) <> 0 AS signature_counts,
            CASE WHEN (call.trust & 256) <> 0 THEN (call.trust >> 9) & 7 END AS diversions,
            (ARRAY['absent', 'verified', 'unverified'])[((call.trust >> 12) & 3)::integer + 1] AS signed_name
        """

    /// The place of the written name, from the same bits; null for a call without a name or a verdict.
    private static let nameOrigin = """
        ,
            (ARRAY['directory', 'rcd', 'both'])[((call.trust >> 27) & 3)::integer] AS name_origin
        """

    /// Whether the row of a call is the one to show: a call that several gateways have belongs to one of them, and one
    /// that was tried again elsewhere is the call there.
    static let isShown = "call.continued_as IS NULL AND \(belongsHere)"

    /// Whether the row of a call is that of its owner.
    static let belongsHere = """
        NOT EXISTS (SELECT 1 FROM ledger.owner WHERE owner.call_id = call.call_id
            AND (owner.row_node, owner.row_ledger, owner.row_id) <> (call.node, call.ledger, call.id))
        """
}

extension SharedTable.Column {
    /// The type in the shared ledger.
    var sqlType: String {
        switch kind {
        case .integer: "bigint"
        case .text: "text"
        case .bytes: "bytea"
        }
    }
}
