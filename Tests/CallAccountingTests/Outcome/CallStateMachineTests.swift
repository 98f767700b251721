// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("Outcome machine: races, retries, durations")
struct CallStateMachineTests {
    private let call = ScriptedUpdates()

    @Test func `an answered call has both durations in whole seconds`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(180, at: 1), call.answered(at: 6.9), call.bye(at: 70.2),
        ]).record
        #expect(record.outcome == .answered)
        #expect(record.ringSeconds == 5)
        #expect(record.callSeconds == 63)
        #expect(record.status == 200)
    }

    @Test func `ringing counts from the first 180 even if early media came before`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(183, at: 1), call.provisional(180, at: 4), call.provisional(180, at: 5),
            call.answered(at: 10), call.bye(at: 20),
        ]).record
        #expect(record.ringSeconds == 6)
        #expect(record.displayEvidence == .alerting)
    }

    @Test func `without a 180 it counts from the first 183`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(182, at: 1), call.provisional(183, at: 2), call.provisional(183, at: 5),
            call.answered(at: 10), call.bye(at: 11),
        ]).record
        #expect(record.ringSeconds == 8)
    }

    @Test(arguments: [100, 181, 182, 199] as [UInt16])
    func `responses that prove no phone are no alerting`(status: UInt16) {
        var machine = CallStateMachine(after: [call.invite()])
        let changes = status == 181 || status == 182
        #expect(machine.receive(call.provisional(status, at: 1)) == (changes ? .changed : []))
        #expect(machine.record.alertedAt == nil)
        #expect(machine.record.displayEvidence == nil)
    }

    @Test func `reaching the phone is said once, by the first 180`() {
        var machine = CallStateMachine(after: [call.invite()])
        #expect(machine.receive(call.provisional(183, at: 1)) == .changed)
        #expect(machine.receive(call.provisional(180, at: 2)) == [.changed, .reached])
        #expect(machine.receive(call.provisional(180, at: 2.5)) == .changed)
        #expect(machine.receive(call.answered(at: 3)) == .changed)
    }

    @Test func `a 2xx without ringing is the evidence itself and has no ring duration`() {
        var machine = CallStateMachine(after: [call.invite()])
        #expect(machine.receive(call.answered(at: 3)) == [.changed, .reached])
        #expect(machine.receive(call.bye(at: 5)) == [.changed, .ended])
        #expect(machine.record.displayEvidence == .answered)
        #expect(machine.record.ringSeconds == nil)
        #expect(machine.record.callSeconds == 2)
    }

    @Test func `a 2xx that crosses the CANCEL wins`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(180, at: 1), call.cancelled(at: 5), call.answered(at: 5.1),
            call.failed(487, at: 5.2), call.bye(at: 5.3),
        ]).record
        #expect(record.outcome == .answered)
        #expect(record.callSeconds == 0)
    }

    @Test func `a challenge and the INVITE with the credentials are one call`() {
        var machine = CallStateMachine(after: [call.invite()])
        #expect(machine.receive(call.failed(401, at: 0.1)) == .changed)
        #expect(machine.record.outcome == nil)
        #expect(machine.receive(call.invite(at: 0.2)) == .changed)
        _ = machine.receive(call.provisional(180, at: 1))
        _ = machine.receive(call.answered(at: 2))
        _ = machine.receive(call.bye(at: 9))
        #expect(machine.record.outcome == .answered)
        #expect(machine.record.attempts == 2)
        #expect(machine.record.inviteAt == ScriptedUpdates.start)
    }

    @Test func `a challenge without a new INVITE fails the call in its state`() {
        var machine = CallStateMachine(after: [call.invite(), call.failed(407, at: 1)])
        #expect(machine.expire(now: ScriptedUpdates.start + 32_900_000, limits: .init()) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + 33_000_000, limits: .init()) == [.changed, .ended])
        #expect(machine.record.outcome == .failed)
        #expect(machine.record.endedAt == ScriptedUpdates.start + 1_000_000)
    }

    @Test func `repeated and late updates change nothing`() {
        var machine = CallStateMachine(after: [
            call.invite(), call.provisional(180, at: 1), call.answered(at: 2),
        ])
        let before = machine
        for update in [
            call.invite(at: 3), call.answered(at: 3), call.provisional(180, at: 3), call.failed(486, at: 3),
            call.cancelled(at: 3),
        ] { #expect(machine.receive(update) == []) }
        #expect(machine == before)
        _ = machine.receive(call.bye(at: 10))
        let ended = machine
        #expect(machine.receive(call.bye(at: 11)) == [])
        #expect(machine.receive(call.answered(at: 12)) == [])
        #expect(machine.expire(now: .max, limits: .init()) == [])
        #expect(machine == ended)
    }

    @Test func `a BYE in an early dialog is the caller giving up`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(180, at: 1), call.bye(at: 4), call.failed(487, at: 4.1),
        ]).record
        #expect(record.outcome == .missed)
        #expect(record.ringSeconds == 3)
    }

    @Test func `a BYE that never comes ends the call as answered without a duration`() {
        var machine = CallStateMachine(after: [call.invite(), call.provisional(180, at: 1), call.answered(at: 5)])
        let limits = CallStateMachine.Limits(answered: 600)
        #expect(machine.expire(now: ScriptedUpdates.start + 604_000_000, limits: limits) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + 605_000_000, limits: limits) == [.changed, .ended])
        #expect(machine.record.outcome == .answered)
        #expect(machine.record.callSeconds == nil)
        #expect(machine.record.ringSeconds == 4)
    }

    @Test(arguments: [(true, CallOutcome.missed), (false, .failed)])
    func `a call whose every further word was lost ends in the end`(rings: Bool, outcome: CallOutcome) {
        var machine = CallStateMachine(after: rings ? [call.invite(), call.provisional(180, at: 1)] : [call.invite()])
        #expect(machine.expire(now: ScriptedUpdates.start + 901_000_000, limits: .init()) == [.changed, .ended])
        #expect(machine.record.outcome == outcome)
        #expect(machine.record.ringSeconds == nil)
    }

    @Test(arguments: [180, 182, 183] as [UInt16])
    func `a phone that says again that it rings is waited for`(status: UInt16) {
        var machine = CallStateMachine(after: [call.invite(), call.provisional(status, at: 1)])
        for minute in 1...30 { _ = machine.receive(call.provisional(status, at: Double(minute) * 60)) }
        #expect(machine.expire(now: ScriptedUpdates.start + 2_699_000_000, limits: .init()) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + 2_700_000_000, limits: .init()) == [.changed, .ended])
        #expect(machine.record.outcome == (status == 182 ? .failed : .missed))
    }

    @Test func `a phone that rings after another branch failed waits for no other try`() {
        var machine = CallStateMachine(after: [call.invite(), call.failed(480, at: 1)], awaitsRedial: true)
        #expect(machine.isOpenToRedial)
        _ = machine.receive(call.provisional(180, at: 2))
        #expect(!machine.isOpenToRedial)
        #expect(machine.expire(now: ScriptedUpdates.start + 60_000_000, limits: .init()) == [])
    }

    @Test func `a wall clock set back gives no duration rather than a wrong one`() {
        let record = CallStateMachine(after: [
            call.invite(), call.provisional(180, at: 10), call.answered(at: 5), call.bye(at: 8),
        ]).record
        #expect(record.ringSeconds == nil)
        #expect(record.callSeconds == 3)
    }

    @Test func `a brand name cut in the middle of a character loses that character`() {
        var bytes = Array(String(repeating: "ä", count: 60).utf8)
        bytes.removeLast(bytes.count - 99)
        let texts = CallTexts(brandName: bytes)
        let record = CallRecord(call.invite(), texts: texts, trunk: nil)
        #expect(record.brandName == String(repeating: "ä", count: 49))
    }

    @Test func `a withheld number that slipped into a update is not kept`() {
        var withheld = call
        withheld.reason = .privacy
        let record = CallRecord(withheld.invite(), texts: CallTexts(brandID: Array("b".utf8)), trunk: nil)
        #expect(record.caller == nil)
        #expect(record.brandID == nil)
    }

    @Test(arguments: [(181, 900), (450, 900), (3600, 7200)])
    func `a phone that rings for all of Timer C is not taken for a call nobody ends`(timerC: Int64, seconds: Int64) {
        let limits = CallStateMachine.Limits(timerC: timerC)
        var machine = CallStateMachine(after: [call.invite(), call.provisional(180, at: 1)])
        #expect(machine.expire(now: ScriptedUpdates.start + (seconds + 1) * 1_000_000 - 1, limits: limits) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + (seconds + 1) * 1_000_000, limits: limits).contains(.ended))
    }
}
