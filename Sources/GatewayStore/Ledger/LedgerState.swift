// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB

/// The state of a ledger at a start: open calls, the next row numbers, the position in the ring.
struct LedgerState {
    var calls: [LedgerCall] = []
    /// Ended calls whose INVITE may still be retransmitted.
    var ended: [EndedCalls.Call] = []
    var nextCall: Int64 = 1
    var nextEvent: Int64 = 1
    /// The number of the newest clock; 0 for none.
    var clock: Int64 = 0
    /// Nil for an unknown ring.
    var position: UInt64?

    /// Reads it all; called once, at start.
    ///
    /// - Parameter awaitsRedial: calls that failed before any phone rang wait for the carrier's next attempt.
    init(_ database: Database, ringID: Int64, awaitsRedial: Bool) throws {
        nextCall = try Self.largest("SELECT max(id) FROM call", database) + 1
        nextEvent = try Self.largest("SELECT max(id) FROM event", database) + 1
        clock = try Self.largest("SELECT max(id) FROM clock", database)
        position = try RingPosition(database).position(of: ringID)
        let open = try LedgerStatement(database, Self.openCalls)
        while let call = try open.row({ Self.call($0, awaitsRedial: awaitsRedial) }) {
            if let call { calls.append(call) }
        }
        // The last calls before a long stop count too: the ring may hold a retransmission of their INVITE.
        let newest = try Self.largest("SELECT invite_at FROM call WHERE id = (SELECT max(id) FROM call)", database)
        try readEnded(database, around: newest)
    }

    /// Reads backwards from the newest call to calls too old for a retransmission.
    ///
    /// A call from much later ends the walk too: the clock was set back after it.
    private mutating func readEnded(_ database: Database, around time: Int64) throws {
        let newest = try LedgerStatement(database, Self.callsBefore)
        let repeated = (time - CallStateMachine.Limits.repetition)...(time + CallStateMachine.Limits.repetition)
        var (before, isDone) = (nextCall, false)
        while !isDone {
            newest.bind(1, before)
            // Reads each step to its end, because an unfinished statement would keep an old state of the file.
            isDone = true
            while let (row, invite, end, names, called) = try newest.row({
                (
                    $0.integer(0) ?? 0, $0.integer(1) ?? 0, $0.integer(2), [$0.text(3), $0.text(4)],
                    Self.number($0.integer(5))?.description ?? $0.text(6) ?? ""
                )
            }) {
                (before, isDone) = (row, !repeated.contains(invite))
                guard !isDone, let end else { continue }
                for name in names.compactMap({ $0 }).compactMap(CallIdentifier.init) {
                    ended.append(EndedCalls.Call(name, to: called, endedAt: end))
                }
            }
        }
    }

    private static func largest(_ sql: String, _ database: Database) throws -> Int64 {
        try LedgerStatement(database, sql).firstRow { $0.integer(0) }?.map { $0 } ?? 0
    }

    private static let callsBefore = """
        SELECT id, invite_at, ended_at, call_id, attempt_call_id, destination, subscriber FROM call
        WHERE id < ?1 ORDER BY id DESC LIMIT 500
        """

    /// The call of a row; nil for none.
    static func call(at row: Int64, in database: Database) throws -> LedgerCall? {
        let select = try LedgerStatement(database, calls + " WHERE id = ?1")
        select.bind(1, row)
        return try select.firstRow { call($0, awaitsRedial: false) } ?? nil
    }

    private static let calls = """
        SELECT id, call_id, direction, sip_call_id, trunk, caller, destination, subscriber, brand_id, brand_name,
            decision, invite_at, progress_at, ringing_at, answered_at, cancelled_at, refused_at, status, q850,
            sip_cause, attempts, shown_event, end_event, carrier_name, forwarded, answered_by, session_until,
            attempt_call_id, attempt_sip_call_id, caller_received, evidence, customer
        FROM call
        """
    private static let openCalls = calls + " WHERE ended_at IS NULL ORDER BY id"

    /// Nil for a row that no gateway wrote.
    private static func call(_ row: LedgerRow, awaitsRedial: Bool) -> LedgerCall? {
        guard let id = row.integer(0), let text = row.text(1), let call = CallIdentifier(text),
            let direction = row.integer(2).flatMap(UInt8.init(exactly:)).flatMap(CallUpdate.Direction.init(rawValue:))
        else { return nil }
        var record = CallRecord(
            call: call, direction: direction, sipCallID: row.text(3) ?? "", trunk: row.text(4),
            caller: number(row.integer(5)), destination: number(row.integer(6)), subscriber: row.text(7) ?? "",
            brandID: row.text(8), brandName: row.text(9), carrierName: row.text(23), customer: row.text(31),
            reason: CallRecord.reason(ofDecision: row.text(10) ?? ""), inviteAt: row.integer(11) ?? 0)
        record.callerReceived = row.text(29)
        record.evidence = row.integer(30).flatMap(UInt32.init(exactly:)).map(DecisionEvidence.init(rawValue:))
        record.progressAt = row.integer(12)
        record.ringingAt = row.integer(13)
        record.answeredAt = row.integer(14)
        record.cancelledAt = row.integer(15)
        record.refusedAt = row.integer(16)
        record.status = code(row.integer(17))
        record.q850Cause = code(row.integer(18))
        record.sipCause = code(row.integer(19))
        record.attempts = Int(row.integer(20) ?? 1)
        record.isForwarded = row.integer(24) == 1
        record.machine = row.text(25).flatMap(CallAnswerer.init(rawValue:))
        record.sessionUntil = row.integer(26)
        record.attempt = row.text(27).flatMap(CallIdentifier.init).map { ($0, row.text(28) ?? "") }
        let open = LedgerCall(row: id, callID: text, record: record, isStored: true, awaitsRedial: awaitsRedial)
        open.shownEvent = row.integer(21)
        open.endEvent = row.integer(22)
        return open
    }

    private static func number(_ digits: Int64?) -> E164Number? {
        digits.flatMap(UInt64.init(exactly:)).flatMap(E164Number.init(digits:))
    }

    private static func code(_ value: Int64?) -> UInt16 { value.flatMap(UInt16.init(exactly:)) ?? 0 }
}
