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

    @Test func `ringing before a rejection that asks for another attempt goes on waiting for it`() {
        var call = machine(update(.failed, 5, 302))
        #expect(call.receive(foreign: update(.provisional, 4, 183)) == .changed)
        #expect(call.receive(foreign: update(.provisional, 4, 180)).contains(.reached) == call.record.isBranded)
        #expect(call.record.refusedAt == 5_000_000 && call.record.ringingAt == 4_000_000)
    }

    // A 180 at one gateway and the rejection at another, whose report comes first.
    @Test(arguments: [480, 486, 503] as [UInt16], [1, 4, 5])
    func `a phone that rang before a rejection makes the call a missed one, and nothing opens it again`(
        status: UInt16, second: Int64
    ) {
        var caller = update(.invite, 0)
        caller.caller = 61_491_570_156
        var call = CallStateMachine(CallRecord(caller, texts: nil, trunk: nil), awaitsRedial: true)
        _ = call.receive(update(.failed, 5, status))
        let isOver = status == 486
        let step = call.receive(foreign: update(.provisional, second, 180))
        #expect(step == (isOver ? [] : [.changed, .reached, .ended]))
        #expect(call.record.outcome == (isOver ? .busy : .missed))
        #expect(call.record.endedAt == 5_000_000)
        #expect(call.receive(foreign: update(.provisional, 6, 180)).isEmpty)
    }

    @Test func `a repeated rejection does not move the time of the first`() {
        var caller = update(.invite, 0)
        caller.caller = 61_491_570_156
        var call = CallStateMachine(CallRecord(caller, texts: nil, trunk: nil), awaitsRedial: true)
        _ = call.receive(update(.failed, 5, 503))
        _ = call.receive(update(.failed, 6, 503))
        _ = call.receive(foreign: update(.failed, 7, 503))
        #expect(call.record.refusedAt == 5_000_000 && call.isOpenToRedial)
        _ = call.receive(foreign: update(.failed, 4, 503))
        #expect(call.record.refusedAt == 4_000_000)
    }

    // MARK: Ends that siblings have seen better

    private func withSiblings(_ updates: CallUpdate...) -> CallStateMachine {
        var machine = CallStateMachine(CallRecord(update(.invite, 0), texts: nil, trunk: nil), hasSiblings: true)
        for update in updates { _ = machine.receive(update) }
        return machine
    }

    private var limits: CallStateMachine.Limits {
        var limits = CallStateMachine.Limits()
        limits.siblingReport = 4_000_000
        return limits
    }

    @Test(arguments: [true, false])
    func `a 487 waits for its CANCEL, whose Reason passed a sibling`(isReported: Bool) {
        var call = withSiblings(update(.provisional, 1, 180), update(.failed, 5, 487))
        #expect(call.record.outcome == nil && !call.isOpenToRedial)
        #expect(call.deadline(limits) == 9_000_000)
        // A restart in between changes nothing.
        call = CallStateMachine(call.record, hasSiblings: true)
        if isReported {
            var cancel = update(.cancelled, 4)
            cancel.sipCause = 200
            #expect(call.receive(foreign: cancel) == [.changed, .ended])
            #expect(call.record.outcome == .answeredElsewhere && call.record.endedAt == 4_000_000)
        } else {
            #expect(call.expire(now: 9_000_000, limits: limits).contains(.ended))
            #expect(call.record.outcome == .missed && call.record.endedAt == 5_000_000)
        }
    }

    @Test func `without siblings, and with its CANCEL, a 487 ends the call at once`() {
        var alone = machine(update(.provisional, 1, 180))
        #expect(alone.receive(update(.failed, 5, 487)).contains(.ended))
        var cancelled = withSiblings(update(.provisional, 1, 180), update(.cancelled, 4))
        #expect(cancelled.receive(update(.failed, 5, 487)).contains(.ended))
    }

    /// A gateway that stood still for a while gives a call up that its sibling has carried on.
    @Test(
        arguments: [
            (CallUpdate.Kind.failed, 486, CallOutcome.rejected), (.failed, 480, .missed), (.answered, 200, nil),
            (.provisional, 180, nil),
        ] as [(CallUpdate.Kind, UInt16, CallOutcome?)])
    func `an end of the gateway's own gives way to what the phone sent`(
        kind: CallUpdate.Kind, status: UInt16, outcome: CallOutcome?
    ) {
        var own = update(.failed, 8, 408)
        own.isOwn = true
        var call = withSiblings(update(.provisional, 1, 180), own)
        #expect(call.record.outcome == nil)
        let step = call.receive(foreign: update(kind, 6, status))
        #expect(call.record.outcome == outcome)
        #expect(step.contains(.ended) == (outcome != nil))
        if kind == .answered {
            #expect(call.record.answeredAt == 6_000_000 && call.record.refusedAt == nil)
        } else if outcome != nil {
            #expect(call.record.endedAt == 6_000_000 && call.record.status == status)
        }
        var again = withSiblings(own)
        #expect(again.receive(own).isEmpty)
    }

    @Test func `an end of the gateway's own after a response of the phone changes nothing`() {
        var own = update(.failed, 8, 408)
        own.isOwn = true
        var call = withSiblings(update(.provisional, 1, 180), update(.failed, 5, 487))
        #expect(call.receive(own).isEmpty)
        #expect(call.record.status == 487 && call.record.refusedAt == 5_000_000)
    }

    @Test func `an end of the gateway's own that nobody corrects counts`() {
        var own = update(.failed, 8, 503)
        own.isOwn = true
        var call = withSiblings(own)
        #expect(call.expire(now: 12_000_000, limits: limits).contains(.ended))
        #expect(call.record.outcome == .failed && call.record.endedAt == 8_000_000)
    }

    /// Only a dialog has a BYE, so a 2xx has passed the sibling (RFC 3261 §12.3, §15).
    @Test(arguments: [(408, true), (408, false), (503, true), (503, false)] as [(UInt16, Bool)], [true, false])
    func `a BYE after an end of the gateway's own awaits the 2xx of the sibling`(
        end: (status: UInt16, isReported: Bool), isRedialled: Bool
    ) {
        let (status, isReported) = end
        var invite = update(.invite, 0)
        invite.caller = 61_491_570_156
        var own = update(.failed, 8, status)
        own.isOwn = true
        var call = CallStateMachine(
            CallRecord(invite, texts: nil, trunk: nil), awaitsRedial: isRedialled, hasSiblings: true)
        _ = call.receive(own)
        #expect(call.receive(update(.bye, 9)) == .changed)
        #expect(call.record.outcome == nil && !call.isOpenToRedial)
        if isReported {
            #expect(call.receive(foreign: update(.answered, 6, 200)).contains(.reached))
            #expect(call.record.answeredAt == 6_000_000 && call.record.cancelledAt == 9_000_000)
        } else {
            let step = call.expire(now: 73_000_000, limits: limits)
            #expect(step == [.changed, .reached, .ended])
            #expect(call.record.outcome == .answered && call.record.endedAt == 9_000_000)
            #expect(call.record.status == 0, "the 2xx was not seen, and the 408 ended nothing")
        }
    }

    @Test func `a 487 after the BYE of an early dialog ends the call, whatever this gateway had sent`() {
        var own = update(.failed, 8, 408)
        own.isOwn = true
        var call = withSiblings(update(.provisional, 1, 180), own, update(.bye, 9))
        #expect(call.receive(foreign: update(.failed, 10, 487)).contains(.ended))
        #expect(call.record.outcome == .missed && call.record.status == 487)
    }

    /// The CANCEL of a call that rang nowhere here may show that another phone took it; no further attempt comes then.
    @Test(arguments: [(200, .answeredElsewhere), (603, .declinedElsewhere), (0, nil)] as [(UInt16, CallOutcome?)])
    func `a CANCEL that is reported after its 487 ends a call that waits for another attempt, unless it is missed`(
        cause: UInt16, outcome: CallOutcome?
    ) {
        var invite = update(.invite, 0)
        invite.caller = 61_491_570_156
        var call = CallStateMachine(
            CallRecord(invite, texts: nil, trunk: nil), awaitsRedial: true, hasSiblings: true)
        _ = call.receive(update(.failed, 5, 487))
        var cancel = update(.cancelled, 4)
        cancel.sipCause = cause
        #expect(call.receive(foreign: cancel) == (outcome == nil ? .changed : [.changed, .ended]))
        #expect(call.record.outcome == outcome && call.isOpenToRedial == (outcome == nil))
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
