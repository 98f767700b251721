// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

extension LedgerWriter {
    /// Records which calls were taken over, so that none is a second time.
    func store(adopted calls: [(call: LedgerCall, gateway: String)]) throws {
        guard !calls.isEmpty else { return }
        let insert = try LedgerStatement(
            database, "INSERT OR REPLACE INTO adopted_call (call_id, call, gateway) VALUES (?1, ?2, ?3)")
        for (call, gateway) in calls {
            insert.bind(1, call.callID)
            insert.bind(2, call.row)
            insert.bind(3, gateway)
            try insert.run()
        }
    }

    /// Stores events of another gateway as they are there, due at once.
    func store(taken events: [(id: Int64, row: ForeignRow)]) throws {
        guard !events.isEmpty else { return }
        let insert = try LedgerStatement(
            database,
            """
            INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """)
        for (id, row) in events {
            insert.bind(1, id)
            insert.bind(2, row.text("key") ?? "")
            insert.bind(3, row.text("number") ?? "")
            insert.bind(4, row.text("surface") ?? "")
            insert.bind(5, row.text("displayed_at") ?? "")
            insert.bind(6, row.text("meta") ?? "{}")
            insert.bind(7, row.integer("created_at") ?? now)
            insert.bind(8, now)
            insert.bind(9, row.text("customer"))
            try insert.run()
        }
    }
}
