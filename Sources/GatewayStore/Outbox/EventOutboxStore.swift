// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB
import Synchronization

/// The event outbox in the ledger file, for the sender.
///
/// Responses are stored in groups: those that arrive during a transaction go into the next one. They are not synced to
/// the disk. After a power cut an event may be sent again with the same key; the recorder's next commit makes them
/// durable. Keys have no index, which would cost more than the rest of an event. The store remembers the rows of the
/// offered events instead. A store offers the events of one customer alone, or those without a customer. Safe from any
/// thread.
package final class EventOutboxStore: EventOutbox {
    private let files: HeraldDatabase
    /// Throws while there is no ledger.
    private var database: any DatabaseWriter { get throws { try files.ledger } }
    /// The customer whose events it offers; nil for events without a customer.
    private let customer: String?
    private let clock: QueueClock
    private let waiting = Mutex(Waiting())

    private struct Waiting {
        var settlements: [(OutboxSettlement, CheckedContinuation<Void, any Error>)] = []
        var isWriting = false
        /// Rows of the offered events without a response, by key.
        var offered: [String: Int64] = [:]
    }

    /// Works on the ledger file of an open database.
    package init(_ database: HeraldDatabase, of customer: String? = nil, clock: QueueClock = QueueClock()) {
        files = database
        self.customer = customer
        self.clock = clock
    }

    package func dueEvents(limit: Int, now: Int64) async throws -> [PendingEvent] {
        let customer = customer
        try await clock.follow(now: now) { behind in
            try await database.write { database in
                let sql = "UPDATE event SET due_at = due_at - ? WHERE state = 0 AND customer IS ? AND due_at > ?"
                try database.execute(sql: sql, arguments: [behind, customer, now])
            }
        }
        let due = try await database.read { database in
            var due = try Self.events(Self.selectDue, of: customer, now, limit, database)
            let failing = due.filter { $0.event.attempts > 0 }
            if due.count == limit, failing.count > limit / 2 {
                // Events that fail each time leave half of the batch to untried events.
                let new = try Self.events(Self.selectNew, of: customer, now, limit - limit / 2, database)
                due = failing.prefix(limit - new.count) + new
            }
            if due.count < limit {
                due += try Self.events(
                    Self.selectStranded, of: customer, now + Self.longestWait, limit - due.count, database)
            }
            return due
        }
        waiting.withLock { waiting in
            for (row, event) in due { waiting.offered[event.event.key] = row }
        }
        return due.map(\.event)
    }

    /// The customers with due events, found in one step for each customer with waiting ones.
    ///
    /// - Parameter now: seconds since 1970.
    package static func customersWithDueEvents(in files: HeraldDatabase, now: Int64) async throws -> [String] {
        let sql = """
            WITH RECURSIVE waiting (customer) AS (
                SELECT min(customer) FROM event WHERE state = 0 AND customer > ''
                UNION ALL
                SELECT (SELECT min(customer) FROM event WHERE state = 0 AND customer > waiting.customer)
                FROM waiting WHERE customer IS NOT NULL
            )
            SELECT customer FROM waiting WHERE customer IS NOT NULL AND EXISTS (
                SELECT 1 FROM event WHERE state = 0 AND event.customer = waiting.customer AND due_at <= ?
            )
            """
        return try await files.ledger.read { try String.fetchAll($0, sql: sql, arguments: [now]) }
    }

    package func markDelivered(key: String, receipt: EventReceipt, now: Int64) async throws {
        try await settle(key, .delivered(receipt: receipt, now: now))
    }

    package func markRefused(key: String, status: Int, reason: String, now: Int64) async throws {
        try await settle(key, .refused(status: status, reason: reason, now: now))
    }

    package func postpone(key: String, until: Int64, reason: String) async throws {
        try await settle(key, .postponed(until: until, reason: reason))
    }

    /// Makes a refused event due again without its attempts; its key stays the same.
    ///
    /// - Parameter customer: the customer that the event must belong to; nil for any.
    /// - Returns: false if no refused event of the customer has the key.
    package func retry(key: String, of customer: String? = nil, now: Int64) async throws -> Bool {
        try await database.write { database in
            let sql = """
                UPDATE event SET state = 0, attempts = 0, due_at = ?1
                WHERE state = 2 AND key = ?2 AND (?3 IS NULL OR customer = ?3)
                """
            try database.execute(sql: sql, arguments: [now, key, customer])
            return database.changesCount > 0
        }
    }

    /// Makes every refused event due again.
    ///
    /// - Parameter customer: the customer whose events become due; nil for the events of all.
    /// - Returns: the number of events.
    package func retryAllRefused(of customer: String? = nil, now: Int64) async throws -> Int {
        try await database.write { database in
            let sql = """
                UPDATE event SET state = 0, attempts = 0, due_at = ?1
                WHERE state = 2 AND (?2 IS NULL OR customer = ?2)
                """
            try database.execute(sql: sql, arguments: [now, customer])
            return database.changesCount
        }
    }

    // MARK: Group commit

    private func settle(_ key: String, _ outcome: OutboxSettlement.Outcome) async throws {
        try await withCheckedThrowingContinuation { done in
            let starts = waiting.withLock { waiting in
                let row = waiting.offered.removeValue(forKey: key)
                waiting.settlements.append((OutboxSettlement(key: key, row: row, outcome: outcome), done))
                defer { waiting.isWriting = true }
                return !waiting.isWriting
            }
            if starts { writeNextGroup() }
        }
    }

    private func writeNextGroup() {
        guard let database = try? self.database else { return failGroup() }
        database.asyncWriteWithoutTransaction { database in
            let group = self.takeGroup()
            let result = Result { try OutboxSettlement.store(group.map(\.0), in: database) }
            for (_, done) in group { done.resume(with: result) }
            let goesOn = self.waiting.withLock { waiting in
                waiting.isWriting = !waiting.settlements.isEmpty
                return waiting.isWriting
            }
            // Through the queue again, so that many responses do not block the recorder.
            if goesOn { self.writeNextGroup() }
        }
    }

    private func takeGroup() -> [(OutboxSettlement, CheckedContinuation<Void, any Error>)] {
        waiting.withLock { waiting in
            defer { waiting.settlements.removeAll() }
            return waiting.settlements
        }
    }

    /// Without a ledger no response is stored, and the events are sent again with their keys.
    private func failGroup() {
        let group = takeGroup()
        waiting.withLock { $0.isWriting = false }
        let problem = HeraldDatabaseError(path: files.ledgerFile.path, problem: .missing)
        for (_, done) in group { done.resume(throwing: problem) }
    }

    // MARK: Rows

    /// Longest wait in seconds; a longer one was set before a start with the clock set back.
    private static let longestWait: Int64 = 7200
    private static let selectDue = select("due_at <= ?1")
    private static let selectNew = select("due_at <= ?1 AND attempts = 0")
    private static let selectStranded = select("due_at > ?1")

    private static func select(_ condition: String) -> String {
        """
        SELECT id, key, number, surface, displayed_at, meta, attempts, created_at
        FROM event WHERE state = 0 AND customer IS ?3 AND \(condition) ORDER BY due_at, id LIMIT ?2
        """
    }

    private static func events(
        _ sql: String, of customer: String?, _ bound: Int64, _ limit: Int, _ database: Database
    ) throws -> [(row: Int64, event: PendingEvent)] {
        let select = try LedgerStatement(database, sql)
        select.bind(1, bound)
        select.bind(2, limit)
        select.bind(3, customer)
        var events: [(row: Int64, event: PendingEvent)] = []
        while let event = try select.row(pendingEvent) { events.append(event) }
        return events
    }

    private static func pendingEvent(_ row: LedgerRow) -> (row: Int64, event: PendingEvent) {
        let key = EventKey(row.text(1) ?? "")
        // An edited row is sent with its readable parts: one bad row must not block the others.
        var meta = row.text(5).flatMap { try? OutboxMeta.decode($0) } ?? .init()
        meta.callEventID = meta.callEventID ?? key.callID
        let event = OutcomeEvent(
            key: key.text, callID: key.callID, number: row.text(2) ?? "", outcome: key.outcome,
            surface: row.text(3) ?? "", displayedAt: row.text(4) ?? "", meta: meta)
        return (
            row.integer(0) ?? 0,
            PendingEvent(event: event, attempts: Int(row.integer(6) ?? 0), storedAt: row.integer(7))
        )
    }
}
