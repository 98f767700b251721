// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

/// What another gateway has seen may arrive after later messages of the call.
@Suite("Late updates of other gateways")
struct LateUpdateTests {
    private func update(
        _ kind: CallUpdate.Kind, _ second: Int64, _ status: UInt16 = 0, session: UInt32 = 0
    ) -> CallUpdate {
        var update = CallUpdate(
            kind: kind, direction: .inbound, call: CallIdentifier(high: 1, low: 1),
            wallMicroseconds: second * 1_000_000, status: status)
        update.sessionSeconds = session
        return update
    }

    private func machine(_ updates: CallUpdate...) -> CallStateMachine {
        var machine = CallStateMachine(CallRecord(update(.invite, 0), texts: nil, trunk: nil))
        for update in updates { _ = machine.receive(update) }
        return machine
    }

    @Test func `a challenge before the INVITE with credentials changes nothing`() {
        var call = machine(update(.failed, 1, 401), update(.invite, 2))
        #expect(call.receive(foreign: update(.failed, 1, 401)).isEmpty)
        #expect(call.record.refusedAt == nil)
        #expect(call.receive(foreign: update(.failed, 3, 403)).contains(.ended))
    }

    @Test func `ringing before a rejection changes nothing`() {
        var call = machine(update(.provisional, 1, 180), update(.failed, 5, 302))
        #expect(call.receive(foreign: update(.provisional, 4, 183)).isEmpty)
        #expect(call.record.refusedAt == 5_000_000)
    }

    @Test func `a phone whose ringing is reported after its answer rang until the answer`() {
        var call = machine(update(.answered, 5, 200))
        #expect(call.receive(foreign: update(.provisional, 6, 180)) == .changed)
        #expect(call.record.ringingAt == 5_000_000)
        #expect(call.receive(foreign: update(.provisional, 3, 180)).isEmpty)
    }

    @Test func `a response that crossed the CANCEL counts`() {
        var call = machine(update(.provisional, 1, 180), update(.cancelled, 5))
        #expect(call.receive(foreign: update(.failed, 4, 486)).contains(.ended))
        #expect(call.record.outcome == .rejected)
    }

    @Test func `an earlier refresh does not shorten the session`() {
        var call = machine(update(.answered, 1, 200, session: 600), update(.refreshed, 500, session: 600))
        #expect(call.receive(foreign: update(.refreshed, 300, session: 600)).isEmpty)
        #expect(call.record.sessionUntil == 1_100_000_000)
        #expect(call.receive(foreign: update(.refreshed, 900, session: 600)) == .changed)
        #expect(call.record.sessionUntil == 1_500_000_000)
    }

    @Test func `an earlier provisional response does not bring the deadline forward`() {
        var call = machine(update(.provisional, 1, 180), update(.provisional, 60, 180))
        let deadline = call.deadline(.init())
        _ = call.receive(foreign: update(.provisional, 30, 183))
        #expect(call.deadline(.init()) == deadline)
    }
}
