// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
package import GRDB

/// Reads calls, events and counts for the operator, also beside a running gateway.
///
/// Reads newest rows first and stops at the limit. Safe from any thread.
package struct LedgerReader: Sendable {
    private let source: @Sendable () throws -> any DatabaseReader

    /// Reads through the given connection; `HeraldDatabase.ledgerReader(folder:)` opens one for a command.
    package init(_ database: any DatabaseReader) { source = { database } }

    /// Reads the ledger of a gateway; each query throws the reason if there is none.
    package init(_ files: HeraldDatabase) { source = { try files.ledger } }

    var database: any DatabaseReader { get throws { try source() } }

    /// The newest calls that pass the filter, newest first.
    package func calls(matching filter: CallFilter = .init(), limit: Int) throws -> [LedgerCallRow] {
        var conditions: [String] = []
        var arguments = StatementArguments()
        func require(_ condition: String, _ values: (any DatabaseValueConvertible)?...) {
            conditions.append(condition)
            arguments += StatementArguments(values)
        }
        if filter.number != nil || filter.received != nil || filter.numberEnd != nil {
            let digits = filter.number.map { Int64($0.digits) }
            let end = filter.numberEnd.map { "%" + Self.literal($0) }
            require(
                """
                (caller = ? OR destination = ? OR caller_received LIKE ? ESCAPE '\\' OR caller LIKE ? ESCAPE '\\' \
                OR destination LIKE ? ESCAPE '\\' OR also_called LIKE ? ESCAPE '\\' OR also_called LIKE ? ESCAPE '\\')
                """, digits, digits, filter.received.map(Self.part), end, end,
                // A line of `CalledParty.stored` has a space behind the number.
                filter.number.map { "%\($0) %" }, end.map { $0 + " %" })
        }
        if let name = filter.name {
            require(
                "(brand_name LIKE ? ESCAPE '\\' OR carrier_name LIKE ? ESCAPE '\\')", Self.part(name), Self.part(name))
        }
        if let trunk = filter.trunk { require("trunk = ?", trunk) }
        if let customer = filter.customer { require("customer = ?", customer) }
        if let provider = filter.provider { require("provider = ? COLLATE NOCASE", provider) }
        if filter.outcome == "OPEN" {
            require("ended_at IS NULL")
        } else if let outcome = filter.outcome {
            require("outcome = ?", outcome)
        }
        if let callID = filter.callID {
            require("? IN (call_id, sip_call_id, attempt_call_id, attempt_sip_call_id)", callID)
        }
        if let part = filter.callIDPart {
            let columns = ["call_id", "sip_call_id", "attempt_call_id", "attempt_sip_call_id"]
            conditions.append("(" + columns.map { "\($0) LIKE ? ESCAPE '\\'" }.joined(separator: " OR ") + ")")
            arguments += StatementArguments(columns.map { _ in Self.part(part) })
        }
        if let since = filter.since { require("invite_at >= ?", since * 1_000_000) }
        if let until = filter.until { require("invite_at < ?", (until + 1) * 1_000_000) }
        if let isBranded = filter.isBranded { require("(decision = 'matched') = ?", isBranded) }
        if !filter.namesCalls { conditions.append("continued_as IS NULL") }
        if let before = filter.before { require("id < ?", before) }
        if let row = filter.row { require("id = ?", row) }
        if let rows = filter.rows { conditions.append("id IN (\(rows.map(String.init).joined(separator: ",")))") }
        return try database.read { [conditions, arguments] database in
            var (conditions, arguments) = (conditions, arguments)
            // Without an index of times, older rows are left out by their row.
            // A stepped clock may disturb the order by a while, so a day before `since` counts too.
            if let since = filter.since,
                let row = try CallOrder.firstRow(from: (since - 86_400) * 1_000_000, in: database)
            {
                conditions.append("id >= ?")
                arguments += [row]
            }
            let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
            arguments += [limit]
            let sql = "SELECT * FROM call \(condition) ORDER BY id DESC LIMIT ?"
            return try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in
                let ids: [Int64?] = [row["shown_event"], row["end_event"], row["return_event"]]
                let events = try ids.compactMap { $0 }.compactMap { id in
                    try Row.fetchOne(database, sql: "SELECT * FROM event WHERE id = ?", arguments: [id])
                        .map(LedgerEventRow.init(row:))
                }
                return LedgerCallRow(row: row, events: events)
            }
        }
    }

    /// A pattern of LIKE that finds a text anywhere.
    private static func part(_ text: String) -> String { "%" + literal(text) + "%" }

    /// Escapes a text for LIKE.
    private static func literal(_ text: String) -> String {
        text.reduce(into: "") { out, character in
            if "\\%_".contains(character) { out += "\\" }
            out.append(character)
        }
    }

    /// The row of the newest call, and the rows of calls in progress.
    func standing() throws -> (newest: Int64, open: Set<Int64>) {
        try database.read { database in
            let open = try Int64.fetchSet(database, sql: "SELECT id FROM call WHERE ended_at IS NULL")
            return (try Int64.fetchOne(database, sql: "SELECT max(id) FROM call") ?? 0, open)
        }
    }

    /// The newest events in a state, or in any, newest first.
    ///
    /// - Parameter customer: nil for the events of all.
    package func events(
        state: LedgerEventRow.State? = nil, customer: String? = nil, limit: Int
    ) throws -> [LedgerEventRow] {
        try database.read { database in
            let state = state.map { "state = \($0.rawValue)" } ?? "1"
            let sql = "SELECT * FROM event WHERE \(state) AND (?1 IS NULL OR customer = ?1) ORDER BY id DESC LIMIT ?2"
            return try Row.fetchAll(database, sql: sql, arguments: [customer, limit])
                .map(LedgerEventRow.init(row:))
        }
    }

    /// Numbers of waiting and refused events by customer; customers without any are left out.
    package func backlogOfCustomers() throws -> [String: EventBacklog] {
        try database.read { database in
            // Each state has an index of its own.
            let sql = """
                SELECT customer, count(*), 0 FROM event WHERE state = 0 AND customer IS NOT NULL GROUP BY customer
                UNION ALL
                SELECT customer, 0, count(*) FROM event WHERE state = 2 AND customer IS NOT NULL GROUP BY customer
                """
            return try Row.fetchAll(database, sql: sql).reduce(into: [:]) { found, row in
                found[row[0], default: .init()].waiting += row[1] as Int
                found[row[0], default: .init()].refused += row[2] as Int
            }
        }
    }

    /// Whether a customer has open calls or waiting events.
    package func hasWork(of customer: String) throws -> Bool {
        try database.read { database in
            let sql = """
                SELECT EXISTS (SELECT 1 FROM event WHERE state = 0 AND customer = ?1)
                    OR EXISTS (SELECT 1 FROM call WHERE ended_at IS NULL AND customer = ?1)
                """
            return try Bool.fetchOne(database, sql: sql, arguments: [customer]) ?? false
        }
    }

    /// Numbers of waiting and refused events; cheap enough for metrics.
    package func backlog() throws -> EventBacklog {
        try database.read { database in
            let waiting = try Int.fetchOne(database, sql: "SELECT count(*) FROM event WHERE state = 0") ?? 0
            let refused = try Int.fetchOne(database, sql: "SELECT count(*) FROM event WHERE state = 2") ?? 0
            return EventBacklog(waiting: waiting, refused: refused)
        }
    }
}

/// Events on their way to a directory.
package struct EventBacklog: Hashable, Sendable, Codable {
    package var waiting: Int
    package var refused: Int

    package init(waiting: Int = 0, refused: Int = 0) {
        (self.waiting, self.refused) = (waiting, refused)
    }
}
