// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Copies of a gateway's databases")
struct StateDatabaseTests {
    private let ledger: LedgerFixture
    private let target = TemporaryFolder()
    private var file: String { target.path + "/herald.sqlite" }

    init() throws {
        ledger = try LedgerFixture()
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
    }

    @Test func `a copy beside the running recorder has every call and event, and the gateway goes on with it`() throws {
        // The changes are in the write-ahead log, which a plain copy of the file would lack.
        #expect(FileManager.default.fileExists(atPath: ledger.folder + "/herald.sqlite-wal"))
        try StateDatabase.ledger.copy(from: ledger.folder, to: file)
        let restored = try HeraldDatabase(folder: target.path)
        let calls = try LedgerReader(restored.ledger).calls(limit: 100)
        #expect(calls.map(\.callID) == (try LedgerReader(ledger.database.ledger).calls(limit: 100)).map(\.callID))
        #expect(calls.count == 3)
        let events = try LedgerReader(restored.ledger).events(limit: 100)
        #expect(Set(events.map(\.key)) == Set(try ledger.keys()))
        ScriptedCall(ledger.ring, 9, sipCallID: "c9@carrier").missed()
        try ledger.recorder.drain()
        #expect(try ledger.calls().count == 4, "the original goes on")
        try restored.close()
    }

    @Test func `it is one file for its owner and group`() throws {
        try StateDatabase.ledger.copy(from: ledger.folder, to: file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["herald.sqlite"])
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect((mode ?? 0o777) & 0o007 == 0)
    }

    @Test func `an existing file is kept, and a failure leaves none`() throws {
        try "mine".write(toFile: file, atomically: true, encoding: .utf8)
        let exists = #expect(throws: DatabaseCopyError.self) {
            try StateDatabase.ledger.copy(from: ledger.folder, to: file)
        }
        #expect(exists?.description.contains("it exists already; name a new file") == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(throws: DatabaseCopyError.self) {
            try StateDatabase.ledger.copy(from: ledger.folder, to: target.path + "/missing/herald.sqlite")
        }
        let empty = TemporaryFolder()
        #expect(throws: HeraldDatabaseError.self) {
            try StateDatabase.ledger.copy(from: empty.path, to: target.path + "/other.sqlite")
        }
        #expect(!FileManager.default.fileExists(atPath: target.path + "/other.sqlite"))
    }
}
