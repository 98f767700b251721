// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Testing

@testable import GatewayStore

@Suite("Recorder: kept signals after a kill and after a power cut")
struct LedgerPowerCutTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture { $0.logSize = 1 << 16 } }

    /// What the ledger has to be in the end, by a recorder nothing happened to.
    private static func wholeStory() throws -> [String] {
        let whole = try LedgerFixture()
        LedgerPlay(whole.ring, 1).missed()
        LedgerPlay.three(whole.ring, from: 11)
        try whole.recorder.drain()
        return try whole.rows().map(toldOnly).sorted()
    }

    /// Without the numbers of rows, and without the time of writing, which is the start's.
    private static func toldOnly(_ row: String) -> String {
        row.replacing(#/\b(id|shown_event|end_event|created_at|due_at):(\d+|NULL) ?/#, with: "")
    }

    private func story() throws -> [String] { try ledger.rows().map(Self.toldOnly).sorted() }

    /// The first call is stored, so that signals are kept from now on.
    private func begin() throws {
        LedgerPlay(ledger.ring, 1).missed()
        try ledger.recorder.drain()
    }

    @Test func `nothing is kept before something is stored, for the ledger must know the ring`() throws {
        LedgerPlay.three(ledger.ring, from: 11)
        #expect(ledger.recorder.keep(limit: 16) == nil)
        #expect(ledger.ring.released == 0)
        try ledger.recorder.drain()
        #expect(ledger.recorder.keep(limit: 16) == 0)
    }

    @Test(arguments: 0...8, [true, false])
    func `killed after any round, with the ring or after a power cut without it, the story is the same`(
        kept: Int, isRingLost: Bool
    ) throws {
        try begin()
        LedgerPlay.three(ledger.ring, from: 11)
        for _ in 0..<kept { #expect(ledger.recorder.keep(limit: 1) == 1) }
        // Of what is only in the ring a power cut leaves nothing.
        if isRingLost, kept < 8 { while ledger.recorder.keep(limit: 3) ?? 0 > 0 {} }
        #expect(try ledger.calls().count == 1)
        try ledger.restart(losingRing: isRingLost)
        #expect(ledger.recorder.keep(limit: 16) == nil)
        try ledger.recorder.drain()
        #expect(try story() == Self.wholeStory())
    }

    @Test(arguments: [true, false])
    func `started again and again, nothing is told twice`(isRingLost: Bool) throws {
        try begin()
        LedgerPlay.three(ledger.ring, from: 11)
        #expect(ledger.recorder.keep(limit: 16) == 8)
        for _ in 1...3 {
            // So late that no INVITE is taken for a repetition of one that has just ended.
            ledger.clock.advance(seconds: 200)
            try ledger.restart(losingRing: isRingLost)
            try ledger.recorder.drain()
            #expect(try ledger.recorder.drain().signals == 0)
        }
        #expect(try story() == Self.wholeStory())
    }

    @Test func `killed again before the start has stored anything, it is all there the next time`() throws {
        try begin()
        LedgerPlay.three(ledger.ring, from: 11)
        #expect(ledger.recorder.keep(limit: 16) == 8)
        for _ in 1...3 { try ledger.restart(losingRing: true) }
        try ledger.recorder.drain()
        #expect(try story() == Self.wholeStory())
    }

    @Test func `what was kept, stored and kept anew after a power cut is told once`() throws {
        try begin()
        let call = LedgerPlay(ledger.ring, 2)
        call.invite()
        call.rings(at: 1)
        #expect(ledger.recorder.keep(limit: 16) == 2)
        try ledger.recorder.drain()
        call.answered(at: 4)
        #expect(ledger.recorder.keep(limit: 16) == 1)
        try ledger.restart(losingRing: true)
        try ledger.recorder.drain()
        let same = LedgerPlay(ledger.ring, 2)
        same.bye(at: 9)
        #expect(ledger.recorder.keep(limit: 16) == 1)
        try ledger.restart(losingRing: true)
        try ledger.recorder.drain()
        let row = try #require(try ledger.calls().last)
        #expect(row.outcome == "ANSWERED" && row.ringSeconds == 3 && row.callSeconds == 5)
        #expect(try ledger.keys().suffix(2) == ["displayed:\(call.id)", "call_seen:\(call.id)"])
    }

    @Test func `a log that is gone costs nothing while the ring is there`() throws {
        try begin()
        LedgerPlay.three(ledger.ring, from: 11)
        #expect(ledger.recorder.keep(limit: 16) == 8)
        try FileManager.default.removeItem(atPath: ledger.folder + "/herald.signals")
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try story() == Self.wholeStory())
    }

    @Test func `without room in the log nothing is taken from the ring`() throws {
        try begin()
        for number: UInt64 in 2...60 { LedgerPlay(ledger.ring, number).invite() }
        #expect(ledger.recorder.keep(limit: 200) == nil)
        #expect(ledger.ring.released == 3)
        #expect(ledger.recorder.keep(limit: 50) == 50)
        #expect(ledger.ring.released == 53)
    }

    @Test(arguments: [true, false])
    func `a repeated INVITE that was kept is no second call, however late the start is`(isRingLost: Bool) throws {
        try begin()
        LedgerPlay(ledger.ring, 1).invite(at: 32)
        #expect(ledger.recorder.keep(limit: 16) == 1)
        ledger.clock.advance(seconds: 300)
        try ledger.restart(losingRing: isRingLost)
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 1)
    }

    @Test func `a ring that comes back older than the ledger uses no number twice`() throws {
        let disk = ledger.folder + "/older.ring"
        try FileManager.default.copyItem(atPath: ledger.folder + "/0.ring", toPath: disk)
        try begin()
        LedgerPlay(ledger.ring, 2).missed()
        #expect(ledger.recorder.keep(limit: 16) == 3)
        let ringID = ledger.ring.ringID
        // The ring's file as the disk had it before the first call.
        func cut() throws {
            try ledger.restart { ring in
                try FileManager.default.removeItem(atPath: ring)
                try FileManager.default.copyItem(atPath: disk, toPath: ring)
            }
        }
        try cut()
        #expect(ledger.ring.ringID != ringID)
        // Three signals as before: the log would fit again if the numbers meant the same.
        LedgerPlay(ledger.ring, 3).missed(from: 60)
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 200)
        try ledger.restart()
        try ledger.recorder.drain()
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == ["MISSED", "MISSED", "MISSED"])
        #expect(try ledger.keys().count == 6)
    }

    @Test func `what earlier rounds left in the log goes with what is old`() throws {
        try begin()
        LedgerPlay(ledger.ring, 2, sipCallID: "left-over@carrier").missed()
        #expect(ledger.recorder.keep(limit: 16) == 3)
        try ledger.recorder.drain()
        let log = URL(filePath: ledger.folder + "/herald.signals")
        let trace = Data("left-over@carrier".utf8)
        #expect(try Data(contentsOf: log).range(of: trace) != nil)
        try ledger.recorder.prune()
        #expect(try Data(contentsOf: log).range(of: trace) == nil)
    }

    @Test func `what a start found in the log stays there until it is stored`() throws {
        try begin()
        LedgerPlay.three(ledger.ring, from: 11)
        #expect(ledger.recorder.keep(limit: 16) == 8)
        try ledger.restart(losingRing: true)
        try ledger.recorder.prune()
        try ledger.restart(losingRing: true)
        try ledger.recorder.drain()
        #expect(try story() == Self.wholeStory())
    }
}
