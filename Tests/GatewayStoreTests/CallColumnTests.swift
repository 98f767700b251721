// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Columns of a call")
struct CallColumnTests {
    private let folder = TemporaryFolder()

    /// A call with a value in every field of its record.
    private static func call() -> LedgerCall {
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, sipCallID: "c1@carrier", trunk: "carrier",
            caller: E164Number("+61491570156"), destination: E164Number("+61255501001"), subscriber: "1001",
            brandID: "b-7", brandName: "Acme", carrierName: "WIRELESS CALLER", customer: "north", inviteAt: 10_000_000)
        record.callerReceived = "0491 570 156"
        record.alsoCalled = [CalledParty(number: E164Number("+61255501002"), user: "1002")]
        record.evidence = DecisionEvidence(rawValue: 0x8000_0001)
        record.trust = TrustEvidence(
            facts: 0x8000_1113, causes: 0xFE00_0000_0000_022D, origid: CallIdentifier(high: 11, low: 12), code: 438)
        (record.provider, record.signer) = ("123A", "CN=SHAKEN 123A,O=Example Carrier")
        (record.progressAt, record.ringingAt, record.answeredAt) = (11_000_000, 12_000_000, 15_000_000)
        (record.cancelledAt, record.refusedAt, record.endedAt) = (15_100_000, 9_000_000, 75_000_000)
        (record.status, record.q850Cause, record.sipCause, record.attempts) = (200, 16, 487, 3)
        record.attemptAt = 9_500_000
        record.earlierAttempts = [CallIdentifier(high: 3, low: 4), CallIdentifier(high: 5, low: 6)]
        (record.isForwarded, record.machine, record.sessionUntil) = (true, .system, 1_800_000_000)
        record.attempt = (CallIdentifier(high: 7, low: 8), "c2@carrier")
        record.outcome = .answered
        let call = LedgerCall(row: 5, callID: record.call.description, record: record, isStored: false)
        (call.shownEvent, call.endEvent, call.endClock) = (11, 12, 13)
        call.continuedAs = CallIdentifier(high: 9, low: 10)
        return call
    }

    private static func written(_ call: LedgerCall, subscriberKey: String? = nil) -> CallColumn.Written {
        CallColumn.Written(call: call, record: call.machine.record, subscriberKey: subscriberKey)
    }

    private func stored(_ write: (Database) throws -> Void) throws -> LedgerCallRow {
        let files = try HeraldDatabase(folder: folder.path)
        return try files.ledger.write { database in
            try write(database)
            let select = try LedgerStatement(database, "SELECT \(LedgerCallRow.columns) FROM \(CallColumn.source)")
            return try #require(try select.firstRow { LedgerCallRow($0) })
        }
    }

    @Test(arguments: [false, true])
    func `the row of a usual call that changes is that of a new call`(isEnded: Bool) throws {
        let name = CallIdentifier(high: 1, low: 2)
        func call(_ change: (inout CallRecord) -> Void) -> LedgerCall {
            var record = CallRecord(
                call: name, direction: .inbound, trunk: "carrier", caller: E164Number("+61491570156"),
                inviteAt: 10_000_000)
            change(&record)
            return LedgerCall(row: 5, callID: "\(name)", record: record, isStored: true)
        }
        // The carrier's next attempt ends the wait after the first.
        let begun = call { ($0.refusedAt, $0.sipCause, $0.isForwarded) = (11_000_000, 487, true) }
        let changed = call { record in
            (record.ringingAt, record.attempts) = (12_000_000, 2)
            if isEnded { (record.endedAt, record.status, record.outcome) = (20_000_000, 480, .missed) }
        }
        let updated = try stored { database in
            try CallStatement.insert([Self.written(begun)], in: database)
            var updates = CallStatement.Updates(database)
            try updates.run(Self.written(begun))
            try updates.run(Self.written(changed))
        }
        let new = try stored { database in
            try database.execute(sql: "DELETE FROM call")
            try CallStatement.insert([Self.written(changed)], in: database)
        }
        #expect(updated == new)
    }

    @Test func `a full record is stored and read as it was, with every column of a new row`() throws {
        let call = Self.call()
        let row = try stored { try CallStatement.insert([Self.written(call, subscriberKey: "+61255501001")], in: $0) }
        #expect(row.record == call.machine.record)
        #expect(row.row == 5 && row.integer("returnable") == 1 && row.text("subscriber_key") == "+61255501001")
        #expect(row.integer("shown_event") == 11 && row.integer("end_event") == 12 && row.integer("end_clock") == 13)
        #expect(row.continuedAs == "\(CallIdentifier(high: 9, low: 10))")
        #expect(row.ringSeconds == 3 && row.callSeconds == 60)
        let empty = zip(CallColumn.all, row.values).filter { $1.integer == nil && $1.text == nil }.map(\.0.name)
        #expect(empty == ["return_event", "returned_at"], "the return of a call writes them")
    }

    @Test func `a rare column is stored for a call that has a value there alone`() throws {
        let full = try stored { try CallStatement.insert([Self.written(Self.call())], in: $0) }
        // These belong to a value of another column.
        let parts: Set = ["attempt_sip_call_id", "trust_causes", "signature_code", "origid"]
        let rare = zip(CallColumn.all, full.values).filter { $0.0.isRare && !parts.contains($0.0.name) }
        #expect(rare.count > 5)
        try HeraldDatabase(folder: folder.path).ledger.write { database in
            for (place, (column, value)) in rare.enumerated() {
                var record = CallRecord(call: CallIdentifier(high: 1, low: 2), direction: .inbound, inviteAt: 1)
                column.set?(&record, value)
                let call = LedgerCall(row: Int64(100 + place), callID: "", record: record, isStored: false)
                if column.set == nil { call.continuedAs = CallIdentifier(high: 9, low: 10) }
                try CallStatement.insert([Self.written(call)], in: database)
                let sql = "SELECT \(column.name) FROM \(CallColumn.source) WHERE id = ?"
                let row = try Row.fetchOne(database, sql: sql, arguments: [call.row])
                #expect(row?.hasNull(atIndex: 0) == false, "\(column.name)")
            }
        }
    }

    @Test func `the changes and the end of a call leave what came with its INVITE`() throws {
        let call = Self.call()
        let row = try stored { database in
            try database.execute(
                sql:
                    "INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at) VALUES (5, '', '', 2, '', 1)"
            )
            try CallStatement(database, .end).run(Self.written(call))
        }
        let written = zip(CallColumn.all, row.values).filter { $1.integer != nil || $1.text != nil }.map(\.0.name)
        #expect(
            row.callID.isEmpty && row.direction == "outbound" && row.inviteAt == 1 && row.integer("returnable") == 0)
        #expect(
            Set(written).subtracting([
                "id", "call_id", "sip_call_id", "direction", "decision", "invite_at", "returnable",
            ])
                == [
                    "progress_at", "ringing_at", "answered_at", "cancelled_at", "ended_at", "refused_at", "status",
                    "q850", "sip_cause", "attempts", "outcome", "ring_seconds", "call_seconds", "shown_event",
                    "end_event", "forwarded", "answered_by", "session_until", "attempt_call_id", "attempt_sip_call_id",
                    "end_clock", "attempt_at", "continued_as", "earlier_attempts",
                ])
    }

    @Test func `times of another gateway's row move by its clock, and nothing else of it`() throws {
        let row = try stored { try CallStatement.insert([Self.written(Self.call())], in: $0) }
        let values = Dictionary(zip(CallColumn.all.map(\.name), row.values)) { first, _ in first }
        func moved(_ offset: Int64) -> LedgerCallRow {
            LedgerCallRow(ForeignRow(gateway: "b", values: values, clockOffset: offset))
        }
        #expect(moved(999_999).record == row.record, "clocks of one network")
        let later = zip(CallColumn.all, zip(row.values, moved(2_000_000).values)).filter { $1.0 != $1.1 }.map(\.0.name)
        #expect(
            later == [
                "invite_at", "progress_at", "ringing_at", "answered_at", "cancelled_at", "ended_at", "refused_at",
                "session_until", "attempt_at",
            ])
        #expect(moved(2_000_000).inviteAt == row.inviteAt - 2_000_000)
    }

    @Test func `a step adds the columns of older files, and names no column twice`() {
        #expect(
            CallColumn.additions(in: "ledger redials over gateways") == """
                ALTER TABLE call ADD COLUMN attempt_at INTEGER;
                ALTER TABLE call ADD COLUMN continued_as TEXT;
                ALTER TABLE call ADD COLUMN earlier_attempts TEXT;

                """)
        #expect(Set(CallColumn.all.map(\.name)).count == CallColumn.all.count)
        let steps = CallColumn.all.compactMap(\.added?.file)
        #expect(Set(steps).isSubset(of: Migrations.ledger.migrator.migrations))
    }
}
