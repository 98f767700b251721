// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB

/// Stores one batch inside a transaction: calls, events, returned calls, the position in the ring.
///
/// A changed call takes one statement per batch, also if it begins and ends within the batch.
struct LedgerWriter: ~Copyable {
    let database: Database
    let minter: EventMinter
    let returns: ReturnPolicy
    private let outputs: [CallOutputSink]
    let now: Int64
    private var meta = OutboxMeta()

    /// Writes with the given connection, inside a transaction the caller opened.
    ///
    /// - Parameters:
    ///   - outputs: outputs of ended calls beside the directory.
    ///   - now: seconds since 1970.
    init(
        _ database: Database, minter: EventMinter, returns: ReturnPolicy, outputs: [CallOutputSink] = [], now: Int64
    ) {
        self.outputs = outputs
        self.database = database
        self.minter = minter
        self.returns = returns
        self.now = now
    }

    /// Stores the batch.
    ///
    /// - Parameters:
    ///   - cluster: has the rows that several gateways add to the batch; nil for a gateway alone.
    ///   - firstFreeEvent: row number of the first event that this adds.
    /// - Returns: the number of added events.
    mutating func store(
        _ batch: LedgerBatch, _ cluster: ClusterJournal?, ringID: Int64, firstFreeEvent: Int64
    ) throws -> Int64 {
        let statements = try CallStatements(database)
        for call in batch.calls { try store(call, statements) }
        try store(retimed: batch.retimed)
        try store(renumbered: batch.renumbered)
        try LedgerClock.store(batch.clocks, in: database)
        for call in batch.calls
        where !outputs.isEmpty && call.machine.record.endedAt != nil && !call.isClosedElsewhere { try putOut(call) }
        let insertEvent = try LedgerStatement(database, Self.insertEvent, lendsTexts: true)
        // By index, because iteration would copy each event with its eighteen texts.
        for place in batch.events.indices {
            try store(batch.events[place].event, id: batch.events[place].id, with: insertEvent)
        }
        if let cluster { try store(cluster, with: batch) }
        var nextEvent = firstFreeEvent
        for call in batch.reachedOutbound where cluster?.isShared != true {
            if try storeReturn(call, event: nextEvent, with: insertEvent) { nextEvent += 1 }
        }
        try RingPosition(database).store(batch.position, of: ringID, now: now)
        return nextEvent - firstFreeEvent
    }

    private func store(_ call: LedgerCall, _ statements: CallStatements) throws {
        let record = call.machine.record
        let isEnded = record.endedAt != nil
        let statement = !call.isStored ? statements.insert : isEnded ? statements.end : statements.update
        statement.bind(1, call.row)
        statement.bind(2, record.progressAt)
        statement.bind(3, record.ringingAt)
        statement.bind(4, record.answeredAt)
        statement.bind(5, record.cancelledAt)
        statement.bind(6, record.refusedAt)
        statement.bind(7, record.status == 0 ? nil : Int(record.status))
        statement.bind(8, record.q850Cause == 0 ? nil : Int(record.q850Cause))
        statement.bind(9, record.sipCause == 0 ? nil : Int(record.sipCause))
        statement.bind(10, record.attempts)
        statement.bind(11, call.shownEvent)
        statement.bind(12, record.isForwarded ? 1 : nil)
        statement.bind(13, record.machine?.rawValue)
        statement.bind(14, record.sessionUntil)
        statement.bind(15, record.attempt?.call.description)
        statement.bind(16, record.attempt.flatMap { $0.sipCallID.isEmpty ? nil : $0.sipCallID })
        statement.bind(40, record.attemptAt)
        statement.bind(
            42, record.earlierAttempts.isEmpty ? nil : record.earlierAttempts.map(\.description).joined(separator: " "))
        if isEnded || !call.isStored {
            let isOriginal = call.continuedAs == nil && returns.isOriginal(record)
            let key = try isOriginal ? storeKeys(of: call) : nil
            statement.bind(17, record.endedAt)
            statement.bind(18, record.outcome?.rawValue)
            statement.bind(19, isEnded ? record.ringSeconds : nil)
            statement.bind(20, record.callSeconds)
            statement.bind(21, call.endEvent)
            statement.bind(22, key)
            statement.bind(23, key == nil ? 0 : 1)
            statement.bind(36, call.endClock)
            statement.bind(41, call.continuedAs?.description)
        }
        if !call.isStored { bindOrigin(of: record, callID: call.callID, to: statement) }
        try statement.run()
    }

    /// Stores times of INVITEs, which change only with a step of the clock or the report of a sibling.
    private func store(retimed calls: [LedgerCall]) throws {
        guard !calls.isEmpty else { return }
        let update = try LedgerStatement(database, "UPDATE call SET invite_at = ?2 WHERE id = ?1")
        for call in calls {
            update.bind(1, call.row)
            update.bind(2, call.machine.record.inviteAt)
            try update.run()
        }
    }

    /// Stores called parties, which few calls change.
    private func store(renumbered calls: [LedgerCall]) throws {
        guard !calls.isEmpty else { return }
        let update = try LedgerStatement(
            database, "UPDATE call SET destination = ?2, subscriber = ?3, also_called = ?4 WHERE id = ?1")
        for call in calls {
            let record = call.machine.record
            update.bind(1, call.row)
            update.bind(2, record.destination.map { Int64($0.digits) })
            update.bind(3, record.subscriber.isEmpty ? nil : record.subscriber)
            update.bind(4, CalledParty.stored(record.alsoCalled))
            try update.run()
        }
    }

    /// Stores the further names under which a call may be returned; returns the first one, which is in its row.
    func storeKeys(of call: LedgerCall) throws -> String? {
        let record = call.machine.record
        guard !record.alsoCalled.isEmpty else { return returns.subscriberKeys(of: record).first }
        let keys = returns.originalKeys(of: record)
        let insert = try LedgerStatement(
            database, "INSERT OR IGNORE INTO return_key (caller, subscriber_key, call) VALUES (?1, ?2, ?3)")
        for key in keys.dropFirst() {
            guard let caller = record.caller else { break }
            insert.bind(1, Int64(caller.digits))
            insert.bind(2, key)
            insert.bind(3, call.row)
            try insert.run()
        }
        return keys.first
    }

    private func putOut(_ call: LedgerCall) throws {
        let insert = try LedgerStatement(database, "INSERT INTO call_output (call, sink) VALUES (?1, ?2)")
        for sink in outputs {
            insert.bind(1, call.row)
            insert.bind(2, sink.rawValue)
            try insert.run()
        }
    }

    /// Binds the values that never change after the INVITE.
    private func bindOrigin(of record: CallRecord, callID: String, to statement: LedgerStatement) {
        statement.bind(24, callID)
        statement.bind(25, record.sipCallID)
        statement.bind(26, Int(record.direction.rawValue))
        statement.bind(27, record.trunk)
        statement.bind(28, record.caller.map { Int64($0.digits) })
        statement.bind(29, record.destination.map { Int64($0.digits) })
        statement.bind(30, record.subscriber.isEmpty ? nil : record.subscriber)
        statement.bind(31, record.brandID)
        statement.bind(32, record.brandName)
        statement.bind(33, record.decision)
        statement.bind(34, record.inviteAt)
        statement.bind(35, record.carrierName)
        statement.bind(37, record.callerReceived)
        statement.bind(38, record.evidence.map { Int64($0.rawValue) })
        statement.bind(39, record.customer)
    }

    mutating func store(_ event: OutcomeEvent, id: Int64, with statement: LedgerStatement) throws {
        meta.encode(event.meta)
        statement.bind(1, id)
        statement.bind(2, event.key)
        statement.bind(3, event.number)
        statement.bind(4, event.surface)
        statement.bind(5, event.displayedAt)
        statement.bind(6, text: meta.bytes)
        statement.bind(7, now)
        statement.bind(8, event.customer)
        try statement.run()
    }

    /// Stores the return of an original; after the calls of the batch, because the original may be among them.
    private mutating func storeReturn(_ call: LedgerCall, event: Int64, with insert: LedgerStatement) throws -> Bool {
        let record = call.machine.record
        guard let destination = record.destination else { return false }
        for key in returns.subscriberKeys(of: record) {
            guard let (row, original) = try original(of: destination, subscriber: key, before: record.inviteAt),
                let latency = returns.latency(originalEnd: original.endedAt, outboundInvite: record.inviteAt)
            else { continue }
            try store(minter.returned(record, original: original, latency: latency), id: event, with: insert)
            try settle(original, subscriber: key)
            try mark(row, returnEvent: event, returnedAt: record.inviteAt)
            try mark(call.row, returnEvent: event, returnedAt: nil)
            return true
        }
        return false
    }

    /// The newest original that ended within the window before the outbound INVITE.
    private func original(
        of number: E164Number, subscriber: String, before: Int64
    ) throws -> (row: Int64, original: ReturnedOriginal)? {
        let select = try LedgerStatement(database, Self.selectOriginal)
        select.bind(1, Int64(number.digits))
        select.bind(2, subscriber)
        select.bind(3, before - returns.window * 1_000_000)
        select.bind(4, before)
        select.bind(5, try LedgerClock.reach(in: database))
        return try select.firstRow { row in
            let original = ReturnedOriginal(
                callID: row.text(1) ?? "", number: number, brandID: row.text(2), endedAt: row.integer(3) ?? 0,
                eventID: row.text(4))
            return (row.integer(0) ?? 0, original)
        }
    }

    /// Settles the original and all older calls of the same pair.
    private func settle(_ original: ReturnedOriginal, subscriber: String) throws {
        let settle = try LedgerStatement(database, Self.settleOriginals)
        settle.bind(1, Int64(original.number.digits))
        settle.bind(2, subscriber)
        settle.bind(3, original.endedAt)
        try settle.run()
        let settleFurther = try LedgerStatement(database, Self.settleFurther)
        settleFurther.bind(1, Int64(original.number.digits))
        settleFurther.bind(2, subscriber)
        settleFurther.bind(3, original.endedAt)
        try settleFurther.run()
    }

    func mark(_ row: Int64, returnEvent event: Int64, returnedAt: Int64?) throws {
        let mark = try LedgerStatement(database, Self.markReturn)
        mark.bind(1, row)
        mark.bind(2, event)
        mark.bind(3, returnedAt)
        try mark.run()
    }
}

/// The statements for a begun, a changed and an ended call; most changes touch no indexed column.
private struct CallStatements {
    let insert: LedgerStatement
    let update: LedgerStatement
    let end: LedgerStatement

    init(_ database: Database) throws {
        insert = try LedgerStatement(database, Self.insertCall, lendsTexts: true)
        update = try LedgerStatement(database, Self.updateCall, lendsTexts: true)
        end = try LedgerStatement(database, Self.endCall, lendsTexts: true)
    }

    private static let insertCall = """
        INSERT INTO call (
            id, progress_at, ringing_at, answered_at, cancelled_at, refused_at, status, q850, sip_cause, attempts,
            shown_event, forwarded, answered_by, session_until, attempt_call_id, attempt_sip_call_id, ended_at, outcome,
            ring_seconds, call_seconds, end_event, subscriber_key, returnable, call_id, sip_call_id, direction, trunk,
            caller, destination, subscriber, brand_id, brand_name, decision, invite_at, carrier_name, end_clock,
            caller_received, evidence, customer, attempt_at, continued_as, earlier_attempts)
        VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            ?, ?, ?, ?, ?)
        """

    private static let updateCall = "UPDATE call SET \(progress) WHERE id = ?1"
    private static let endCall = "UPDATE call SET \(progress), \(ending) WHERE id = ?1"

    private static let progress = """
        progress_at = ?2, ringing_at = ?3, answered_at = ?4, cancelled_at = ?5, refused_at = ?6, status = ?7,
        q850 = ?8, sip_cause = ?9, attempts = ?10, shown_event = ?11, forwarded = ?12, answered_by = ?13,
        session_until = ?14, attempt_call_id = ?15, attempt_sip_call_id = ?16,
        attempt_at = ?40, earlier_attempts = ?42
        """

    private static let ending = """
        ended_at = ?17, outcome = ?18, ring_seconds = ?19, call_seconds = ?20, end_event = ?21, subscriber_key = ?22,
        returnable = ?23, end_clock = ?36, continued_as = ?41
        """
}

extension LedgerWriter {
    static let insertEvent = """
        INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
        """

    private static let selectOriginal = """
        SELECT call.id, call.call_id, call.brand_id, \(LedgerClock.endedAt) AS ended, event.event_id
        FROM call LEFT JOIN event ON event.id = call.end_event
        WHERE returnable = 1 AND caller = ?1 AND subscriber_key = ?2 AND \(isInTime)
        UNION ALL
        SELECT call.id, call.call_id, call.brand_id, \(LedgerClock.endedAt) AS ended, event.event_id
        FROM return_key JOIN call ON call.id = return_key.call LEFT JOIN event ON event.id = call.end_event
        WHERE return_key.caller = ?1 AND return_key.subscriber_key = ?2 AND returnable = 1 AND \(isInTime)
        ORDER BY ended DESC LIMIT 1
        """

    private static let isInTime = "ended_at BETWEEN ?3 - ?5 AND ?4 + ?5 AND ended BETWEEN ?3 AND ?4"

    private static let settleOriginals = """
        UPDATE call SET returnable = 0
        WHERE returnable = 1 AND caller = ?1 AND subscriber_key = ?2 AND \(LedgerClock.endedAt) <= ?3
        """

    private static let settleFurther = """
        UPDATE call SET returnable = 0
        WHERE id IN (SELECT call FROM return_key WHERE caller = ?1 AND subscriber_key = ?2)
            AND returnable = 1 AND \(LedgerClock.endedAt) <= ?3
        """

    private static let markReturn = """
        UPDATE call SET return_event = ?2, returned_at = coalesce(?3, returned_at) WHERE id = ?1
        """
}
