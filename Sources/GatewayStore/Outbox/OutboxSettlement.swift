// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// The result of one attempt to send an event.
struct OutboxSettlement: Sendable {
    enum Outcome: Sendable {
        case delivered(receipt: EventReceipt, now: Int64)
        case refused(status: Int, reason: String, now: Int64)
        case postponed(until: Int64, reason: String)
    }

    let key: String
    /// The event's row; nil to look it up among the waiting events.
    let row: Int64?
    let outcome: Outcome

    /// Stores a group in one transaction; keys that no longer wait are passed over.
    ///
    /// The commit does not wait for the disk (`EventOutboxStore`). Later commits of the connection wait again.
    static func store(_ group: [OutboxSettlement], in database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        defer { try? database.execute(sql: "PRAGMA synchronous = FULL") }
        try database.inTransaction(.immediate) {
            for settlement in group { try settlement.store(in: database) }
            return .commit
        }
    }

    private func store(in database: Database) throws {
        guard let row = try row ?? find(in: database) else { return }
        switch outcome {
        case .delivered(let receipt, let now):
            let update = try LedgerStatement(database, Self.deliver)
            update.bind(1, row)
            update.bind(2, receipt.eventID)
            update.bind(3, receipt.counted.map { $0 ? 1 : 0 })
            update.bind(4, receipt.reason)
            update.bind(5, now)
            try update.run()
        case .refused(let status, let reason, let now):
            let update = try LedgerStatement(database, Self.refuse)
            update.bind(1, row)
            update.bind(2, status)
            update.bind(3, reason)
            update.bind(4, now)
            try update.run()
        case .postponed(let until, let reason):
            let update = try LedgerStatement(database, Self.postpone)
            update.bind(1, row)
            update.bind(2, until)
            update.bind(3, reason)
            try update.run()
        }
    }

    private func find(in database: Database) throws -> Int64? {
        let select = try LedgerStatement(database, "SELECT id FROM event WHERE state = 0 AND key = ?1 LIMIT 1")
        select.bind(1, key)
        return try select.firstRow { $0.integer(0) } ?? nil
    }

    private static let deliver = """
        UPDATE event SET state = 1, attempts = attempts + 1, event_id = ?2, counted = ?3, reason = ?4, settled_at = ?5
        WHERE state = 0 AND id = ?1
        """

    private static let refuse = """
        UPDATE event SET state = 2, attempts = attempts + 1, status = ?2, reason = ?3, settled_at = ?4
        WHERE state = 0 AND id = ?1
        """

    private static let postpone = """
        UPDATE event SET attempts = attempts + 1, due_at = ?2, reason = ?3 WHERE state = 0 AND id = ?1
        """
}
