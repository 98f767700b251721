// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallAccounting

/// One race or odd course of a call: its signals, and what a person would say happened.
struct OutcomeRace: Sendable, CustomTestStringConvertible {
    var name: String
    var updates: [CallUpdate]
    /// Seconds after the INVITE at which nothing more is waited for.
    var waitUntil: Int64?
    var outcome: CallOutcome?
    var ring: Int?
    var talk: Int?
    var isForwarded = false
    var answeredBy: CallAnswerer?
    var evidence: DisplayEvidence?

    var testDescription: String { name }

    private static let call = ScriptedUpdates()
    private static let invite = call.invite()
    private static let rings = call.provisional(180, at: 1)

    private static func invite(_ marks: CallUpdate.Marks) -> CallUpdate {
        var update = call.invite()
        update.marks = marks
        return update
    }

    static let table: [OutcomeRace] = [
        // Forwarding, forks and crossing messages (RFC 3261 §9.1, §16.7).
        .init(
            name: "181, then another phone answers",
            updates: [
                invite, call.provisional(181, at: 1), call.provisional(180, at: 2), call.answered(at: 4),
                call.bye(at: 9),
            ],
            outcome: .answered, ring: 2, talk: 5, isForwarded: true, evidence: .alerting),
        .init(
            name: "Diversion or History-Info in the INVITE",
            updates: [invite(.forwarded), rings, call.failed(480, at: 31)],
            outcome: .missed, ring: 30, isForwarded: true, evidence: .alerting),
        .init(
            name: "302 that nobody follows", updates: [invite, call.failed(302, at: 1)], waitUntil: 40,
            outcome: .failed, isForwarded: true),
        .init(
            name: "302 that the carrier follows back to here",
            updates: [
                invite, call.failed(302, at: 1), call.invite(at: 1.2), call.provisional(180, at: 2),
                call.answered(at: 4), call.bye(at: 10),
            ],
            outcome: .answered, ring: 2, talk: 6, isForwarded: true, evidence: .alerting),
        .init(
            name: "voicemail answers after ringing",
            updates: [invite, rings, call.answered(at: 21, by: .voicemail), call.bye(at: 50)],
            outcome: .missed, ring: 20, answeredBy: .voicemail, evidence: .alerting),
        .init(
            name: "voicemail answers at once",
            updates: [invite, call.answered(at: 1, by: .voicemail), call.bye(at: 50)],
            outcome: .missed, answeredBy: .voicemail),
        .init(
            name: "the voicemail box itself was called",
            updates: [invite(.voicemail), call.answered(at: 1), call.bye(at: 50)],
            outcome: .missed, answeredBy: .voicemail),
        .init(
            name: "voicemail whose BYE never comes",
            updates: [invite, rings, call.answered(at: 21, by: .voicemail)], waitUntil: 20_000,
            outcome: .missed, ring: 20, answeredBy: .voicemail, evidence: .alerting),
        .init(
            name: "a menu answers", updates: [invite, call.answered(at: 1, by: .system), call.bye(at: 50)],
            outcome: .answered, talk: 49, answeredBy: .system),
        .init(
            name: "a queue answers after an agent's phone rang",
            updates: [invite, rings, call.answered(at: 3, by: .system), call.bye(at: 50)],
            outcome: .answered, ring: 2, talk: 47, answeredBy: .system, evidence: .alerting),
        .init(
            name: "2xx crosses CANCEL",
            updates: [invite, rings, call.cancelled(at: 5), call.answered(at: 5.1), call.bye(at: 5.3)],
            outcome: .answered, ring: 4, talk: 0, evidence: .alerting),
        .init(
            name: "2xx of a second fork and repeated 2xx",
            updates: [
                invite, rings, call.answered(at: 5), call.answered(at: 5.2), call.answered(at: 6), call.bye(at: 9),
            ],
            outcome: .answered, ring: 4, talk: 4, evidence: .alerting),
        .init(
            name: "2xx after the failure it crossed",
            updates: [invite, rings, call.failed(401, at: 5), call.answered(at: 5.1), call.bye(at: 7)],
            outcome: .answered, ring: 4, talk: 1, evidence: .alerting),
        .init(
            name: "BYE before the ACK", updates: [invite, rings, call.answered(at: 5), call.bye(at: 5)],
            outcome: .answered, ring: 4, talk: 0, evidence: .alerting),
        .init(
            name: "CANCEL repeated, the second with another Reason",
            updates: [invite, rings, call.cancelled(at: 5), call.cancelled(sip: 200, at: 6), call.failed(487, at: 7)],
            outcome: .missed, ring: 4, evidence: .alerting),
        .init(
            name: "CANCEL and BYE of an early dialog",
            updates: [invite, rings, call.bye(at: 5), call.cancelled(at: 5.1), call.failed(487, at: 7)],
            outcome: .missed, ring: 4, evidence: .alerting),
        .init(
            name: "session timer runs out, no BYE",
            updates: [invite, rings, call.answered(at: 5, session: 600)], waitUntil: 5 + 600 + 32,
            outcome: .answered, ring: 4, evidence: .alerting),
        .init(
            name: "session timer still running", updates: [invite, rings, call.answered(at: 5, session: 600)],
            waitUntil: 5 + 600 + 31, ring: 4, evidence: .alerting),
        .init(
            name: "session refreshed",
            updates: [invite, rings, call.answered(at: 5, session: 600), call.refreshed(600, at: 300)],
            waitUntil: 5 + 600 + 32, ring: 4, evidence: .alerting),
        .init(
            name: "session timer switched off by a refresh, RFC 4028 §7.2",
            updates: [invite, rings, call.answered(at: 5, session: 90), call.refreshed(0, at: 30)],
            waitUntil: 5 + 90 + 33, ring: 4, evidence: .alerting),
        .init(
            name: "session refreshed, then over",
            updates: [invite, rings, call.answered(at: 5, session: 600), call.refreshed(1200, at: 300)],
            waitUntil: 300 + 1200 + 32, outcome: .answered, ring: 4, evidence: .alerting),
        .init(
            name: "an interval below what RFC 4028 allows counts as the smallest",
            updates: [invite, rings, call.answered(at: 5, session: 1)], waitUntil: 5 + 90 + 31, ring: 4,
            evidence: .alerting),
        .init(
            name: "refresh of a call that was never answered", updates: [invite, rings, call.refreshed(90, at: 2)],
            waitUntil: 300, evidence: .alerting),
    ]
}

@Suite("Outcome machine: each race is what a person would say happened")
struct OutcomeRaceTests {
    @Test(arguments: OutcomeRace.table)
    func `a race ends as it should`(race: OutcomeRace) {
        var machine = CallStateMachine(after: race.updates)
        if let seconds = race.waitUntil {
            _ = machine.expire(now: ScriptedUpdates.start + seconds * 1_000_000, limits: .init())
        }
        let record = machine.record
        #expect(record.outcome == race.outcome)
        #expect(record.ringSeconds == race.ring)
        #expect(record.callSeconds == race.talk)
        #expect(record.isForwarded == race.isForwarded)
        #expect(record.answeredBy == race.answeredBy)
        #expect(record.displayEvidence == race.evidence)
    }

    private let call = ScriptedUpdates()
    private let second = CallIdentifier(high: 5, low: 6)

    @Test func `a call that failed before any phone rang waits for the carrier's next try`() {
        var machine = CallStateMachine(after: [call.invite(), call.failed(503, at: 1)], awaitsRedial: true)
        #expect(machine.isOpenToRedial)
        #expect(machine.record.outcome == nil)
        #expect(machine.redialled(as: second, sipCallID: "b", at: ScriptedUpdates.start + 2_000_000) == .changed)
        _ = machine.receive(call.provisional(180, at: 3))
        _ = machine.receive(call.answered(at: 4))
        #expect(machine.receive(call.bye(at: 9)) == [.changed, .ended])
        #expect(machine.record.attempts == 2)
        #expect(machine.record.outcome == .answered)
        #expect(machine.record.call == call.call)
        #expect(machine.record.attempt?.call == second)
        #expect(machine.record.inviteAt == ScriptedUpdates.start)
    }

    @Test func `an attempt at another gateway counts once, however often it is reported, and after a restart`() {
        var machine = CallStateMachine(after: [call.invite(), call.provisional(180, at: 1)], awaitsRedial: true)
        var report = call.provisional(180, at: 0)
        (report.kind, report.counterpart, report.status) = (.triedBefore, .earlierAttempt(second), 2)
        #expect(machine.receive(foreign: report) == .changed)
        #expect(machine.receive(foreign: report) == [])
        var again = CallStateMachine(machine.record, awaitsRedial: true)
        #expect(again.receive(foreign: report) == [])
        #expect(again.record.attempts == 3)
        #expect(again.record.ringingAt == ScriptedUpdates.start + 1_000_000, "nothing else changes")
        report.counterpart = .earlierAttempt(call.call)
        #expect(again.receive(foreign: report) == [], "a call is no attempt of itself")
        for number in UInt64(0)..<40 {
            report.counterpart = .earlierAttempt(CallIdentifier(high: 9, low: number))
            _ = again.receive(foreign: report)
        }
        #expect(again.record.earlierAttempts.count == 16, "a broken database does not let a call grow without end")
    }

    @Test func `with a shared ledger a failed call waits longer, and a late attempt here is a call of its own`() {
        var limits = CallStateMachine.Limits()
        (limits.redial, limits.sharedRedial) = (5_000_000, 30_000_000)
        var machine = CallStateMachine(after: [call.invite(), call.failed(503, at: 1)], awaitsRedial: true)
        #expect(machine.deadline(limits) == ScriptedUpdates.start + 36_000_000)
        #expect(machine.endsWithoutRedial() == [.changed, .ended])
        #expect(machine.record.endedAt == ScriptedUpdates.start + 1_000_000)
        #expect(machine.endsWithoutRedial() == [])
    }

    @Test func `each try has the time of a call of its own`() {
        var machine = CallStateMachine(after: [call.invite()], awaitsRedial: true)
        for number in 1...3 {
            _ = machine.receive(call.failed(503, at: Double(number) * 600 - 1))
            let time = ScriptedUpdates.start + Int64(number) * 600_000_000
            #expect(machine.redialled(as: second, sipCallID: "b", at: time) == .changed)
        }
        #expect(machine.expire(now: ScriptedUpdates.start + 2_699_000_000, limits: .init()) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + 2_700_000_000, limits: .init()) == [.changed, .ended])
    }

    @Test func `without a next try it fails where it stood`() {
        var limits = CallStateMachine.Limits()
        limits.redial = 5_000_000
        var machine = CallStateMachine(after: [call.invite(), call.failed(503, q850: 34, at: 1)], awaitsRedial: true)
        #expect(machine.expire(now: ScriptedUpdates.start + 5_900_000, limits: limits) == [])
        #expect(machine.expire(now: ScriptedUpdates.start + 6_000_000, limits: limits) == [.changed, .ended])
        #expect(machine.record.outcome == .failed)
        #expect(machine.record.endedAt == ScriptedUpdates.start + 1_000_000)
        #expect(machine.record.q850Cause == 34)
    }

    @Test(
        arguments: [
            ([ScriptedUpdates().failed(486, at: 1)], CallOutcome.busy),
            ([ScriptedUpdates().failed(603, at: 1)], .rejected),
            ([ScriptedUpdates().failed(608, at: 1)], .blocked),
            ([ScriptedUpdates().provisional(180, at: 1), ScriptedUpdates().failed(503, at: 9)], .missed),
            ([ScriptedUpdates().cancelled(sip: 200, at: 1), ScriptedUpdates().failed(487, at: 2)], .answeredElsewhere),
            (
                [ScriptedUpdates().cancelled(q850: 26, at: 1), ScriptedUpdates().failed(487, q850: 16, at: 2)],
                .answeredElsewhere
            ),
            (
                [ScriptedUpdates().cancelled(sip: 200, at: 1), ScriptedUpdates().failed(487, sip: 487, at: 2)],
                .answeredElsewhere
            ),
        ] as [([CallUpdate], CallOutcome)])
    func `a person's word and a phone that rang end a call at once`(updates: [CallUpdate], outcome: CallOutcome) {
        let machine = CallStateMachine(after: [call.invite()] + updates, awaitsRedial: true)
        #expect(machine.record.outcome == outcome)
    }

    @Test func `given up by the caller before any phone rang may be tried again`() {
        var machine = CallStateMachine(
            after: [call.invite(), call.cancelled(at: 2), call.failed(487, at: 2.1)], awaitsRedial: true)
        #expect(machine.redialled(as: second, sipCallID: "b", at: ScriptedUpdates.start + 2_000_000) == .changed)
        _ = machine.receive(call.provisional(180, at: 3))
        _ = machine.receive(call.failed(480, at: 33))
        #expect(machine.record.outcome == .missed)
        #expect(machine.record.ringSeconds == 30)
        #expect(machine.record.cancelledAt == nil)
    }
}
