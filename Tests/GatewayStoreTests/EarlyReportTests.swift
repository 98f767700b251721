// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Synchronization
import Testing

@testable import GatewayStore

/// A gateway that has a call waits some seconds for what its siblings have seen of it.
@Suite("Recorder: siblings get what concerns their calls at each look at the ring")
struct EarlyReportTests {
    private final class Reports: Sendable {
        let all = Mutex<[ReportedUpdate]>([])
        var kinds: [CallUpdate.Kind] { all.withLock { $0.map(\.update.kind) } }
    }

    private let ledger: LedgerFixture
    private let reports = Reports()

    init() throws {
        ledger = try LedgerFixture()
        ledger.recorder.cluster.onUpdates { [reports] updates in reports.all.withLock { $0 += updates } }
    }

    @Test func `a CANCEL of a sibling's call is reported before it is stored, and once`() throws {
        ScriptedCall(ledger.ring, 9).cancelled(at: 4)
        ledger.recorder.look()
        #expect(reports.kinds == [.cancelled])
        ledger.recorder.look()
        try ledger.recorder.drain()
        #expect(reports.kinds == [.cancelled])
        #expect(reports.all.withLock { $0.allSatisfy { !$0.isOwn } })
        // The same message again is another report.
        ScriptedCall(ledger.ring, 9).cancelled(at: 5)
        try ledger.recorder.drain()
        #expect(reports.kinds == [.cancelled, .cancelled])
    }

    @Test func `updates of own calls wait for the transaction, also those of calls that begin in the ring`() throws {
        let open = ScriptedCall(ledger.ring, 1)
        open.invite()
        try ledger.recorder.drain()
        open.rings(at: 1)
        let begun = ScriptedCall(ledger.ring, 2)
        begun.invite()
        begun.rings(at: 1)
        ScriptedCall(ledger.ring, 9).rings(at: 2)
        ledger.recorder.look()
        #expect(reports.kinds == [.invite, .provisional])
        try ledger.recorder.drain()
        #expect(reports.kinds == [.invite, .provisional, .provisional, .invite, .provisional])
        #expect(reports.all.withLock { $0.map(\.isOwn) } == [true, false, true, true, true])
    }

    @Test func `without siblings a look reads nothing of the ring`() throws {
        let alone = try LedgerFixture()
        ScriptedCall(alone.ring, 9).cancelled(at: 4)
        alone.recorder.look()
        #expect(try alone.recorder.drain().updates == 1)
    }
}
