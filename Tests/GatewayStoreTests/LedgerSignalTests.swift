// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Testing

@testable import GatewayStore

/// Updates of calls that other gateways have, between the ring and the shared ledger.
@Suite("Recorder: signals for other gateways")
struct LedgerSignalTests {
    private let ledger: LedgerFixture

    init() throws { ledger = try LedgerFixture { $0.isShared = true } }

    private func rows(_ column: String) throws -> [Int64] {
        try ledger.database.ledger.read { try Int64.fetchAll($0, sql: "SELECT \(column) FROM call_signal ORDER BY id") }
    }

    @Test func `a kill stores each signal once, with the position in the ring`() throws {
        for number in UInt64(1)...3 {
            ScriptedCall(ledger.ring, number).bye(at: Int64(number))
            if number != 2 { try ledger.recorder.drain() }
            try ledger.restart()
        }
        try ledger.recorder.drain()
        #expect(try rows("id") == [1, 2, 3])
    }

    @Test func `an update of an own call is no signal`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        #expect(try rows("id").isEmpty)
    }

    @Test func `a step of the clock moves signals that have not been shipped`() throws {
        ScriptedCall(ledger.ring, 1).bye(at: 5)
        try ledger.recorder.drain()
        ledger.clock.set(by: 3_600)
        try ledger.recorder.drain()
        ScriptedCall(ledger.ring, 2).bye(at: 3_610)
        try ledger.recorder.drain()
        #expect(try rows("(at - \(LedgerFixture.Clock.start)) / 1000000") == [3_605, 3_610])
    }

    @Test func `a ledger above its size deletes signals, the oldest first`() throws {
        ledger.settings.maxBytes = 1
        try ledger.restart()
        for number in UInt64(1)...3 { ScriptedCall(ledger.ring, number).bye(at: 1) }
        try ledger.recorder.drain()
        try ledger.recorder.shrink()
        #expect(try rows("id") == [3])
    }
}
