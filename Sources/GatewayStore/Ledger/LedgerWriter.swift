// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB

/// Stores one batch inside a transaction: calls, events, returned calls, the position in the ring.
///
/// A changed call is written once per batch, also if it begins and ends within the batch.
struct LedgerWriter: ~Copyable {
    let database: Database
    let minter: EventMinter
    let returns: ReturnPolicy
    private let outputs: [CallOutputSink]
    let now: Int64

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
    func store(
        _ batch: LedgerBatch, _ cluster: ClusterJournal?, ringID: Int64, firstFreeEvent: Int64
    ) throws -> Int64 {
        try store(batch.calls)
        try store(batch.retimed, .retime)
        try store(batch.renumbered, .renumber)
        try LedgerClock.store(batch.clocks, in: database)
        for call in batch.calls
        where !outputs.isEmpty && call.machine.record.endedAt != nil && !call.isClosedElsewhere { try putOut(call) }
        try batch.events.store(in: database, now: now)
        if let cluster { try store(cluster, with: batch) }
        var nextEvent = firstFreeEvent
        for call in batch.reachedOutbound where cluster?.isShared != true {
            if try storeReturn(call, event: nextEvent) { nextEvent += 1 }
        }
        try RingPosition(database).store(batch.position, of: ringID, now: now)
        return nextEvent - firstFreeEvent
    }

    private func store(_ calls: [LedgerCall]) throws {
        var updates = CallStatement.Updates(database)
        var begun: [CallColumn.Written] = []
        var tally = HourTally()
        for call in calls {
            let record = call.machine.record
            let isEnded = record.endedAt != nil
            let isOriginal = isEnded && call.continuedAs == nil && returns.isOriginal(record)
            let key = try isOriginal ? storeKeys(of: call) : nil
            let written = CallColumn.Written(call: call, record: record, subscriberKey: key)
            if call.isStored { try updates.run(written) } else { begun.append(written) }
            if isEnded, call.continuedAs == nil { tally.add(record) }
        }
        try CallStatement.insert(begun, in: database)
        try tally.store(in: database)
        try DoorCalls.store(calls, now: now, in: database)
    }

    /// Stores other columns of calls, which few calls change.
    func store(_ calls: [LedgerCall], _ form: CallStatement.Form) throws {
        guard !calls.isEmpty else { return }
        let update = try CallStatement(database, form)
        for call in calls {
            try update.run(CallColumn.Written(call: call, record: call.machine.record, subscriberKey: nil))
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

    /// Stores the event of a return.
    func store(_ original: ReturnedOriginal, returnedBy call: CallRecord, latency: Int, id: Int64) throws {
        var rows = EventRows()
        let event = minter.returned(call, original: original, latency: latency, to: &rows.texts)
        rows.add(event, id: id)
        try rows.store(in: database, now: now)
    }

    /// Stores the return of an original; after the calls of the batch, because the original may be among them.
    private func storeReturn(_ call: LedgerCall, event: Int64) throws -> Bool {
        let record = call.machine.record
        guard let destination = record.destination else { return false }
        for key in returns.subscriberKeys(of: record) {
            guard let (row, original) = try original(of: destination, subscriber: key, before: record.inviteAt),
                let latency = returns.latency(originalEnd: original.endedAt, outboundInvite: record.inviteAt)
            else { continue }
            try store(original, returnedBy: record, latency: latency, id: event)
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

extension LedgerWriter {
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
