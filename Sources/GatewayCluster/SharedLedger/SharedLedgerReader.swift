// SPDX-License-Identifier: Apache-2.0

import Branding
package import GatewayStore
package import PostgreSQL

/// Reads calls of all gateways from the shared ledger; blocks, one thread.
package final class SharedLedgerReader {
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
    /// The begin of the time that the last search has read, in seconds since 1970; nil if it has read all.
    package private(set) var searchedSince: Int64?
    /// Calls whose events are read in one round trip.
    static let mostAtOnce = 500

    package init(_ address: PostgreSQLAddress, timeLimit: Duration = .seconds(20)) {
        session = PostgreSQLSession(
            address, application: "herald calls", timeLimit: timeLimit, setup: SharedSchema.setup)
    }

    /// The newest calls that pass the filter with their gateways and events, newest first.
    ///
    /// Row numbers of the filter belong to one gateway and are ignored.
    package func calls(matching filter: CallFilter, limit: Int) throws -> [LedgerCallRow] {
        var search = SharedCallSearch(session, filter, limit: limit)
        try search.run()
        searchedSince = search.searchedSince
        let calls = search.found
        // A round trip for some calls, because each has a time limit.
        var events: [PostgreSQLRows] = []
        for first in stride(from: 0, to: calls.count, by: Self.mostAtOnce) {
            let some = calls[first..<min(first + Self.mostAtOnce, calls.count)]
            events += try session.run(some.map { try Self.events(of: $0.values, in: $0.row) })
        }
        return try zip(calls, events).map { call, rows in
            let events = Self.once(try rows.map { try Self.values($0, SharedTable.event.columns, from: 0) })
            return LedgerCallRow(
                shared: call.values, node: try call.row.text(0) ?? "", events: events.map(LedgerEventRow.init(shared:)))
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
        of call: [String: ColumnValue], in row: PostgreSQLRow
    ) throws -> PostgreSQLCommand {
        let ids = ["shown_event", "end_event", "return_event"].compactMap { name -> Int64? in
            if case .integer(let id)? = call[name] { id } else { nil }
        }
        return PostgreSQLCommand(
            selectEvents,
            [.integer(try row.integer(1)), .integer(try row.integer(2)), .integers(ids), .text(call["call_id"]?.text)])
    }

    /// Each event once, in the state that it has at the gateway that has sent it.
    private static func once(_ events: [[String: ColumnValue]]) -> [[String: ColumnValue]] {
        var (order, byKey): ([String], [String: [String: ColumnValue]]) = ([], [:])
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
    ) throws -> [String: ColumnValue] {
        var values: [String: ColumnValue] = [:]
        for (place, column) in columns.enumerated() {
            values[column.name] =
                column.isText ? .text(try row.text(first + place)) : .integer(try row.integer(first + place))
        }
        return values
    }
}
