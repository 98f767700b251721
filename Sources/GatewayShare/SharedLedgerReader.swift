// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import PostgreSQL

/// Reads calls of all gateways from the shared ledger; blocks, one thread.
package final class SharedLedgerReader {
    /// A call with its gateway and its events.
    package struct Call: Sendable {
        package let node: String
        package let values: [String: SharedValue]
        package let events: [[String: SharedValue]]
    }

    /// A gateway that writes to the shared ledger.
    package struct Node: Sendable, Hashable {
        package let name: String
        package let version: String?
        /// Seconds since its last sign of life, by the server's clock.
        package let silentFor: Double
        /// The gateway that goes on with its open calls; nil normally.
        package let adopter: String?
        /// Its `cluster.listen`; nil for a gateway that none adopts.
        package let address: String?
    }

    private let session: PostgreSQLSession
    /// Calls whose events are read in one round trip.
    static let mostAtOnce = 500

    package init(_ address: PostgreSQLAddress, timeLimit: Duration = .seconds(20)) {
        session = PostgreSQLSession(address, application: "herald calls", timeLimit: timeLimit)
    }

    /// The newest calls that pass the filter, newest first.
    ///
    /// Row numbers of the filter belong to one gateway and are ignored.
    package func calls(matching filter: CallFilter, limit: Int) throws -> [Call] {
        var conditions = SharedConditions()
        conditions.add(filter)
        let columns = SharedTable.call.columns
        let names = columns.map { column in
            column.name == "returned_at" ? "coalesce(call.returned_at, back.invited_at)" : "call.\(column.name)"
        }.joined(separator: ", ")
        let rows = try session.execute(
            """
            SELECT node.name, call.node, call.ledger, \(names) FROM ledger.call JOIN ledger.node ON node.id = call.node
            LEFT JOIN LATERAL (
                SELECT at AS invited_at FROM ledger.returned
                WHERE returned.call_id = call.call_id AND return_call_id IS NOT NULL
            ) AS back ON true
            \(conditions.sql) ORDER BY call.invite_at DESC, call.id DESC LIMIT \(limit)
            """, conditions.values)
        var seen: Set<String> = []
        let calls = try rows.compactMap { row -> (row: PostgreSQLRow, values: [String: SharedValue])? in
            let values = try Self.values(row, columns, from: 3)
            // A short call that two gateways had may have no owner.
            guard case .text(let id?)? = values["call_id"], seen.insert(id).inserted else { return nil }
            return (row: row, values: values)
        }
        // A round trip for some calls, because each has a time limit.
        var events: [PostgreSQLRows] = []
        for first in stride(from: 0, to: calls.count, by: Self.mostAtOnce) {
            let some = calls[first..<min(first + Self.mostAtOnce, calls.count)]
            events += try session.run(some.map { try Self.events(of: $0.values, in: $0.row) })
        }
        return try zip(calls, events).map { call, events in
            Call(
                node: try call.row.text(0) ?? "", values: call.values,
                events: Self.once(try events.map { try Self.values($0, SharedTable.event.columns, from: 0) }))
        }
    }

    /// All gateways of the shared ledger, by name; none before the first one has made the tables.
    package func nodes() throws -> [Node] {
        let isMade = try session.execute("SELECT to_regclass('ledger.node') IS NOT NULL").first?.flag(0)
        guard isMade == true else { return [] }
        let rows = try session.execute(
            """
            SELECT node.name, node.version, extract(epoch FROM now() - node.seen_at)::double precision, adopter.name,
                node.address
            FROM ledger.node LEFT JOIN ledger.node AS adopter ON adopter.id = node.adopter ORDER BY node.name
            """)
        return try rows.map { row in
            Node(
                name: try row.text(0) ?? "", version: try row.text(1), silentFor: try row.double(2) ?? 0,
                adopter: try row.text(3), address: try row.text(4))
        }
    }

    /// The role and the standbys of the server.
    package func replication() throws -> PostgreSQLReplication { try PostgreSQLReplication.read(session) }

    /// The statement for the events of a call.
    private static func events(
        of call: [String: SharedValue], in row: PostgreSQLRow
    ) throws -> PostgreSQLCommand {
        let ids = ["shown_event", "end_event", "return_event"].compactMap { name -> Int64? in
            if case .integer(let id)? = call[name] { id } else { nil }
        }
        return PostgreSQLCommand(
            selectEvents,
            [.integer(try row.integer(1)), .integer(try row.integer(2)), .integers(ids), .text(call["call_id"]?.text)])
    }

    /// Each event once, in the state that it has at the gateway that has sent it.
    private static func once(_ events: [[String: SharedValue]]) -> [[String: SharedValue]] {
        var (order, byKey): ([String], [String: [String: SharedValue]]) = ([], [:])
        for event in events {
            guard let key = event["key"]?.text else { continue }
            if byKey[key] == nil { order.append(key) }
            if byKey[key] == nil || event["state"] == .integer(1) { byKey[key] = event }
        }
        return order.compactMap { byKey[$0] }
    }

    /// The event of a return is in the ledger of the call back, maybe of another gateway.
    private static let selectEvents = """
        SELECT \(eventColumns) FROM (
            SELECT false AS is_return, event.* FROM ledger.event
            WHERE node = $1 AND ledger = $2 AND id = ANY ($3::bigint[])
            UNION
            SELECT false, event.* FROM ledger.owner
            JOIN ledger.call ON call.node = owner.from_node AND call.ledger = owner.from_ledger AND call.id = owner.from_id
            JOIN ledger.event ON event.node = call.node AND event.ledger = call.ledger
                AND event.id IN (call.shown_event, call.end_event, call.return_event)
            WHERE owner.call_id = $4
            UNION
            SELECT true, event.* FROM ledger.returned
            JOIN ledger.call ON call.node = returned.return_node AND call.ledger = returned.return_ledger
                AND call.id = returned.return_call
            JOIN ledger.event ON event.node = call.node AND event.ledger = call.ledger AND event.id = call.return_event
            WHERE returned.call_id = $4
        ) AS event ORDER BY is_return, created_at, id
        """

    private static let eventColumns = SharedTable.event.columns.map(\.name).joined(separator: ", ")

    /// The values of a row by column; the first column is at `first`.
    static func values(
        _ row: PostgreSQLRow, _ columns: [SharedTable.Column], from first: Int
    ) throws -> [String: SharedValue] {
        var values: [String: SharedValue] = [:]
        for (place, column) in columns.enumerated() {
            values[column.name] =
                column.isText ? .text(try row.text(first + place)) : .integer(try row.integer(first + place))
        }
        return values
    }
}

/// The conditions of a filter with their values.
private struct SharedConditions {
    private var conditions: [String] = []
    private(set) var values: [PostgreSQLValue] = []

    var sql: String { "WHERE " + conditions.joined(separator: " AND ") }

    /// Adds a condition; each `?` is the next value.
    private mutating func require(_ condition: String, _ given: PostgreSQLValue...) {
        var parts = condition.split(separator: "?", omittingEmptySubsequences: false).map(String.init)
        var text = parts.removeFirst()
        for (value, part) in zip(given, parts) {
            values.append(value)
            text += "$\(values.count)" + part
        }
        conditions.append(text)
    }

    mutating func add(_ filter: CallFilter) {
        conditions.append(filter.namesCalls ? SharedSchema.belongsHere : SharedSchema.isShown)
        addNumbers(filter)
        if let name = filter.name {
            require("(brand_name ILIKE ? OR carrier_name ILIKE ?)", Self.part(name), Self.part(name))
        }
        if let trunk = filter.trunk { require("trunk = ?", .text(trunk)) }
        if let customer = filter.customer { require("customer = ?", .text(customer)) }
        if filter.outcome == "OPEN" {
            require("ended_at IS NULL AND call.node > 0")
        } else if let outcome = filter.outcome {
            require("outcome = ?", .text(outcome))
        }
        if let callID = filter.callID {
            require("?::text IN (call_id, sip_call_id, attempt_call_id, attempt_sip_call_id)", .text(callID))
        }
        if let part = filter.callIDPart {
            require(
                "concat_ws(' ', call_id, sip_call_id, attempt_call_id, attempt_sip_call_id) ILIKE ?", Self.part(part))
        }
        if let since = filter.since { require("invite_at >= ?", .integer(since * 1_000_000)) }
        if let until = filter.until { require("invite_at < ?", .integer((until + 1) * 1_000_000)) }
        if let isBranded = filter.isBranded { require("(decision = 'matched') = ?", .flag(isBranded)) }
    }

    private mutating func addNumbers(_ filter: CallFilter) {
        guard filter.number != nil || filter.received != nil || filter.numberEnd != nil else { return }
        let digits = PostgreSQLValue.integer(filter.number.map { Int64($0.digits) })
        let end = filter.numberEnd.map { PostgreSQLValue.text("%" + Self.literal($0)) } ?? .null
        require(
            """
            (caller = ?::bigint OR destination = ?::bigint OR caller_received ILIKE ?::text OR caller::text LIKE ?::text \
            OR destination::text LIKE ?::text OR also_called LIKE ?::text OR also_called LIKE ?::text)
            """, digits, digits, filter.received.map(Self.part) ?? .null, end, end,
            // A line of `CalledParty.stored` has a space behind the number.
            filter.number.map { .text("%\($0) %") } ?? .null,
            filter.numberEnd.map { .text("%\(Self.literal($0)) %") } ?? .null)
    }

    /// A pattern that finds a text anywhere.
    private static func part(_ text: String) -> PostgreSQLValue { .text("%" + literal(text) + "%") }

    private static func literal(_ text: String) -> String {
        text.reduce(into: "") { out, character in
            if "\\%_".contains(character) { out += "\\" }
            out.append(character)
        }
    }
}
