// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
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

    /// Whether a call that a PBX reported has ended and is stored, under one of its identifiers.
    ///
    /// Waits for the disk. Throws the reason why there is no ledger, or a database error.
    package func hasDoorCall(_ identifiers: [CallIdentifier]) throws -> Bool {
        try database.read { database in
            for identifier in identifiers {
                let sql = "SELECT 1 FROM door_call WHERE call_id = ?"
                if try Int.fetchOne(database, sql: sql, arguments: [identifier.description]) != nil { return true }
            }
            return false
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
