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
    /// Calls of other gateways that this one has taken over.
    var adopted: Set<String> = []

    /// Reads it all; called once, at start.
    ///
    /// - Parameter limits: the waits of open calls.
    init(_ database: Database, ringID: Int64, _ limits: CallStateMachine.Limits) throws {
        nextCall = try Self.largest("SELECT max(id) FROM call", database) + 1
        nextEvent = try Self.largest("SELECT max(id) FROM event", database) + 1
        clock = try Self.largest("SELECT max(id) FROM clock", database)
        position = try RingPosition(database).position(of: ringID)
        let open = try LedgerStatement(database, Self.openCalls)
        while let call = try open.row({ Self.call($0, limits) }) {
            if let call { calls.append(call) }
        }
        let adopted = try LedgerStatement(database, "SELECT call_id FROM adopted_call")
        while let id = try adopted.row({ $0.text(0) }) { if let id { self.adopted.insert(id) } }
        // The last calls before a long stop count too: the ring may hold a retransmission of their INVITE.
        let newest = try Self.largest(Self.newestInvite, database)
        try readEnded(database, around: newest)
    }

    /// Reads backwards from the newest call to calls too old for a retransmission.
    ///
    /// A call from much later ends the walk too: the clock was set back after it.
    private mutating func readEnded(_ database: Database, around time: Int64) throws {
        let newest = try LedgerStatement(database, Self.callsBefore)
        let repeated = (time - CallStateMachine.Limits.repetition)...(time + CallStateMachine.Limits.repetition)
        var (before, isDone, reported) = (nextCall, false, 0)
        while !isDone {
            newest.bind(1, before)
            // Reads each step to its end, because an unfinished statement would keep an old state of the file.
            isDone = true
            while let (row, invite, end, names, called, alsoCalled, isByDoor) = try newest.row({
                (
                    $0.integer(0) ?? 0, $0.integer(1) ?? 0, $0.integer(2), [$0.text(3), $0.text(4)],
                    CalledParty(number: LedgerCallRow.number($0.integer(5)), user: $0.text(6) ?? ""), $0.text(7),
                    $0.integer(8) == 1
                )
            }) {
                if isByDoor { reported += 1 }
                let isOver = isByDoor ? reported > Self.mostReported : !repeated.contains(invite)
                (before, isDone) = (row, isOver)
                guard !isDone, let end else { continue }
                // The ring may have a repeated report of a call that was stored before a kill.
                let last = isByDoor ? .max / 2 : end
                for name in names.compactMap({ $0 }).compactMap(CallIdentifier.init) {
                    for party in [called] + CalledParty.parties(stored: alsoCalled) {
                        ended.append(EndedCalls.Call(name, to: party.name, endedAt: last, row: row))
                    }
                }
            }
        }
    }

    private static func largest(_ sql: String, _ database: Database) throws -> Int64 {
        try LedgerStatement(database, sql).firstRow { $0.integer(0) }?.map { $0 } ?? 0
    }

    /// Most calls that a PBX reported among those that are read: the times of their rows are in no order.
    private static let mostReported = 10_000

    private static let newestInvite = """
        SELECT invite_at FROM (SELECT id, invite_at, evidence FROM call ORDER BY id DESC LIMIT \(mostReported))
        WHERE NOT \(DoorCalls.isByDoor) ORDER BY id DESC LIMIT 1
        """

    private static let callsBefore = """
        SELECT id, invite_at, ended_at, call_id, attempt_call_id, destination, subscriber, also_called,
            \(DoorCalls.isByDoor) FROM call
        WHERE id < ?1 ORDER BY id DESC LIMIT 500
        """

    /// The call of a row; nil for none.
    static func call(at row: Int64, in database: Database) throws -> LedgerCall? {
        let select = try LedgerStatement(database, calls + " WHERE id = ?1")
        select.bind(1, row)
        return try select.firstRow { call($0, CallStateMachine.Limits()) } ?? nil
    }

    private static let calls = "SELECT \(LedgerCallRow.columns) FROM \(CallColumn.source)"
    private static let openCalls = calls + " WHERE ended_at IS NULL ORDER BY id"

    /// Nil for a row that no gateway wrote.
    private static func call(_ row: LedgerRow, _ limits: CallStateMachine.Limits) -> LedgerCall? {
        let row = LedgerCallRow(row)
        guard let record = row.record else { return nil }
        let open = LedgerCall(
            row: row.row, callID: record.call.description, record: record, isStored: true, limits)
        open.shownEvent = row.integer("shown_event")
        open.endEvent = row.integer("end_event")
        return open
    }
}
