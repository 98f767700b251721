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

    @Test func `the earliest 2xx is the answer, and its dialog the one whose BYE ends the call`() {
        func answer(_ second: Int64, _ dialog: UInt64) -> CallUpdate {
            var update = update(.answered, second, 200)
            update.counterpart = .answererDialog(CallIdentifier(high: 2, low: dialog))
            return update
        }
        var bye = update(.bye, 30)
        bye.counterpart = .answererDialog(CallIdentifier(high: 2, low: 1))
        // The 2xx to a re-INVITE passed here, before the report of the first 2xx came.
        var call = machine(update(.provisional, 1, 180), answer(8, 2))
        #expect(call.receive(foreign: answer(9, 3)).isEmpty)
        #expect(call.receive(foreign: answer(5, 1)) == .changed)
        #expect(call.record.answeredAt == 5_000_000)
        #expect(call.receive(foreign: bye).contains(.ended))
        #expect(call.receive(foreign: answer(4, 1)).isEmpty)
    }

    @Test(arguments: [true, false])
    func `a 2xx that is repeated after the BYE of another gateway answers no call anew`(isRepeatedHere: Bool) {
        var call = machine(update(.provisional, 1, 180))
        let repeated = update(.answered, 7, 200)
        if isRepeatedHere {
            _ = call.receive(foreign: update(.bye, 6))
            _ = call.receive(repeated)
        } else {
            _ = call.receive(update(.bye, 6))
            _ = call.receive(foreign: repeated)
        }
        // A report of the first 2xx may still come, and a late 180 changes nothing.
        _ = call.receive(foreign: update(.provisional, 3, 180))
        #expect(call.record.endedAt == nil)
        let deadline = call.deadline(.init())
        #expect(deadline == 70_000_000)
        var told = call
        #expect(call.expire(now: 70_000_000, limits: .init()).contains(.ended))
        #expect(call.record.outcome == .answered && call.record.answeredAt == 6_000_000)
        #expect(call.record.endedAt == 6_000_000 && call.record.endIsKnown)
        #expect(told.receive(foreign: update(.answered, 4, 200)) == .changed)
        #expect(told.record.answeredAt == 4_000_000 && told.record.cancelledAt == 6_000_000)
    }

    @Test func `a BYE without any final response ends an answered call, whose 2xx passed a gateway that died`() {
        var call = machine(update(.provisional, 1, 180), update(.bye, 6))
        var early = call
        #expect(call.expire(now: 70_000_000, limits: .init()).contains(.ended))
        #expect(call.record.outcome == .answered && call.record.endedAt == 6_000_000)
        #expect(early.receive(foreign: update(.failed, 7, 487)).contains(.ended))
        #expect(early.record.outcome == .missed)
    }

    @Test func `a 2xx that crosses the BYE of an early dialog answers the call`() {
        var call = machine(update(.provisional, 1, 180), update(.bye, 6), update(.answered, 7, 200))
        #expect(call.record.answeredAt == 7_000_000)
        #expect(call.receive(update(.bye, 8)).contains(.ended))
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
