// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ended calls for the operator's own systems")
struct CallOutputTests {
    @Test func `an ended call waits for each sink, over a restart, until it has gone out`() throws {
        let ledger = try LedgerFixture { $0.outputs = CallOutputSink.allCases }
        ScriptedCall(ledger.ring, 1).missed()
        ScriptedCall(ledger.ring, 2).invite(at: 1)
        try ledger.recorder.drain()
        try ledger.restart()
        try ledger.recorder.drain()
        let queue = CallOutputStore(ledger.database, clock: QueueClock { 0 })
        for sink in CallOutputSink.allCases {
            let due = try queue.due(sink, limit: 10, now: 0)
            #expect(due.map(\.call.outcome) == ["MISSED"], "a call in progress does not go out")
        }
        let file = try #require(try queue.due(.file, limit: 10, now: 0).first)
        #expect(try queue.waiting() == [.file: 1, .webhook: 1, .kafka: 1])
        try queue.done([file.id])
        #expect(try queue.waiting() == [.webhook: 1, .kafka: 1])
        #expect(try queue.due(.file, limit: 10, now: .max).isEmpty)
        let webhook = try #require(try queue.due(.webhook, limit: 10, now: 0).first)
        try queue.postpone(webhook.id, until: 50)
        #expect(try queue.due(.webhook, limit: 10, now: 49).isEmpty)
        #expect(try queue.due(.webhook, limit: 10, now: 50).map(\.attempts) == [1])
        let next = CallOutputStore(ledger.database, clock: QueueClock { 0 })
        #expect(
            try next.due(.webhook, limit: 10, now: 50 - 86_400).map(\.attempts) == [1], "a start, the clock set back")
        try queue.postpone(webhook.id, until: 110)
        #expect(try queue.due(.webhook, limit: 10, now: 50 - 3_600).isEmpty, "set back while it waits")
        #expect(try queue.due(.webhook, limit: 10, now: 110 - 3_600).map(\.attempts) == [2])
    }

    @Test func `a call that waits is kept beyond the retention, until its sink is configured no more`() throws {
        let ledger = try LedgerFixture { $0.outputs = [.webhook] }
        for number in 1...3 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        try ledger.recorder.drain()
        let queue = CallOutputStore(ledger.database, clock: QueueClock { 0 })
        try queue.done([try #require(try queue.due(.webhook, limit: 1, now: 0).first).id])
        ledger.clock.advance(seconds: 100 * 86_400)
        try ledger.recorder.prune()
        #expect(try queue.due(.webhook, limit: 10, now: 0).count == 2)
        #expect(try ledger.calls().count == 2)
        ledger.settings.outputs = []
        try ledger.restart()
        try ledger.recorder.prune()
        #expect(try ledger.calls().count == 1, "the newest row always stays")
    }

    @Test func `without a sink nothing waits`() throws {
        let ledger = try LedgerFixture()
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        #expect(try CallOutputStore(ledger.database, clock: QueueClock { 0 }).due(.file, limit: 10, now: .max).isEmpty)
    }

    @Test func `a renamed file is left alone and made anew, with its titles`() throws {
        let folder = TemporaryFolder()
        let (path, old) = (folder.path + "/calls.csv", folder.path + "/calls.csv.1")
        let file = CallRecordFile(path: path, titles: "a,b\n")
        try file.append("1,2\n")
        try file.append("3,4\n")
        try FileManager.default.moveItem(atPath: path, toPath: old)
        try file.append("5,6\n")
        #expect(try String(contentsOfFile: old, encoding: .utf8) == "a,b\n1,2\n3,4\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a,b\n5,6\n")
    }

    @Test(arguments: [
        (left: "a,b\n1,2\n3,", now: "a,b\n1,2\n5,6\n"), (left: "a,b\n1,2\n", now: "a,b\n1,2\n5,6\n"),
        (left: "", now: "a,b\n5,6\n"),
    ])
    func `a line that a kill left unfinished swallows no other`(row: (left: String, now: String)) throws {
        let folder = TemporaryFolder()
        let path = try folder.write(row.left, to: "calls.csv")
        try CallRecordFile(path: path, titles: "a,b\n").append("5,6\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == row.now)
    }

    @Test(arguments: ["/dev/full", "/nowhere/calls.csv"])
    func `a file that takes nothing says so`(path: String) {
        #expect(throws: CallRecordFileError.self) { try CallRecordFile(path: path).append("1,2\n") }
    }
}
