// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Testing

@testable import GatewayStore

@Suite("Recorder: killed between two rounds, and power cuts")
struct LedgerPowerCutTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture() }

    /// What the ledger has to be in the end, by a recorder nothing happened to.
    private static func wholeStory() throws -> [String] {
        let whole = try LedgerFixture()
        ScriptedCall(whole.ring, 1).missed()
        ScriptedCall.three(whole.ring, from: 11)
        try whole.recorder.drain()
        return try whole.rows().map(toldOnly).sorted()
    }

    /// Without the numbers of rows, and without the time of writing, which is the start's.
    private static func toldOnly(_ row: String) -> String {
        row.replacing(#/\b(id|shown_event|end_event|created_at|due_at):(\d+|NULL) ?/#, with: "")
    }

    private func story() throws -> [String] { try ledger.rows().map(Self.toldOnly).sorted() }

    /// The first call is stored.
    private func begin() throws {
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
    }

    @Test func `killed between two rounds, nothing is lost and nothing is doubled`() throws {
        var rounds = OutcomeRounds(ledger.recorder)
        ScriptedCall(ledger.ring, 1).missed()
        rounds.round()
        ScriptedCall.three(ledger.ring, from: 11)
        // Within the second: the signals are in the ring alone.
        rounds.round()
        #expect(try ledger.calls().count == 1)
        for _ in 1...3 {
            try ledger.restart()
            #expect(ledger.ring.opening == .resumed(pending: 8, capacity: 256))
        }
        rounds = OutcomeRounds(ledger.recorder)
        rounds.round()
        #expect(try story() == Self.wholeStory())
        try ledger.restart()
        #expect(ledger.ring.opening == .resumed(pending: 0, capacity: 256))
        #expect(try ledger.recorder.drain().updates == 0)
        #expect(try story() == Self.wholeStory())
    }

    @Test func `started again and again, nothing is reported twice`() throws {
        try begin()
        ScriptedCall.three(ledger.ring, from: 11)
        for _ in 1...3 {
            // So late that no INVITE is taken for a repetition of one that has just ended.
            ledger.clock.advance(seconds: 200)
            try ledger.restart()
            try ledger.recorder.drain()
            #expect(try ledger.recorder.drain().updates == 0)
        }
        #expect(try story() == Self.wholeStory())
    }

    @Test func `a power cut loses the updates of the ring, and nothing of the ledger`() throws {
        try begin()
        let call = ScriptedCall(ledger.ring, 2)
        call.invite()
        call.rings(at: 1)
        try ledger.recorder.drain()
        let rows = try ledger.rows()
        ScriptedCall(ledger.ring, 3).invite(at: 2)
        try ledger.restart(losingRing: true)
        try ledger.recorder.drain()
        #expect(try ledger.rows() == rows)
        let same = ScriptedCall(ledger.ring, 2)
        same.answered(at: 4)
        same.bye(at: 9)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().last)
        #expect(row.outcome == "ANSWERED" && row.ringSeconds == 3 && row.callSeconds == 5)
        #expect(try ledger.keys().suffix(2) == ["displayed:\(call.id)", "call_seen:\(call.id)"])
    }

    @Test func `a repeated INVITE in the ring is no second call, however late the start is`() throws {
        try begin()
        ScriptedCall(ledger.ring, 1).invite(at: 32)
        ledger.clock.advance(seconds: 300)
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 1)
    }

    @Test func `a ring that comes back older than the ledger uses no number twice`() throws {
        let disk = ledger.folder + "/older.ring"
        try FileManager.default.copyItem(atPath: ledger.folder + "/0.ring", toPath: disk)
        try begin()
        ScriptedCall(ledger.ring, 2).missed()
        try ledger.recorder.drain()
        let ringID = ledger.ring.ringID
        // The ring's file as the disk had it before the first call.
        try ledger.restart { ring in
            try FileManager.default.removeItem(atPath: ring)
            try FileManager.default.copyItem(atPath: disk, toPath: ring)
        }
        #expect(ledger.ring.ringID != ringID)
        // Three signals as before: the position would fit again if the numbers meant the same.
        ScriptedCall(ledger.ring, 3).missed(from: 60)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 200)
        for _ in 1...2 {
            try ledger.restart()
            try ledger.recorder.drain()
        }
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "MISSED", "MISSED"])
        #expect(try ledger.keys().count == 6)
    }

    @Test func `the first start after an earlier version reads what that kept outside of the ledger`() throws {
        try begin()
        ScriptedCall.three(ledger.ring, from: 11)
        // Such a version freed the slots once the signals were in a file beside the ledger, and was killed.
        ledger.ring.release(through: ledger.ring.claimed)
        let log = ledger.folder + "/herald.signals"
        try Data("left-over@carrier".utf8).write(to: URL(filePath: log))
        try ledger.restart()
        #expect(!FileManager.default.fileExists(atPath: log))
        try ledger.recorder.drain()
        #expect(try story() == Self.wholeStory())
    }
}
