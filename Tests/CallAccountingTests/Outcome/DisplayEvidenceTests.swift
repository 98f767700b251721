// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

/// The course of a branded call, and whether a phone showed the name.
///
/// securenode-endpoint-contract §7: "SDKs MUST only send `displayed` when identity was actually shown".
struct DisplayCourse: Sendable, CustomTestStringConvertible {
    let name: String
    /// After the INVITE at second 0.
    let updates: [CallUpdate]
    var isAwaitingRedial = false
    let outcome: CallOutcome
    let evidence: DisplayEvidence?
    /// Seconds after the INVITE of the display.
    var at: Double?
    /// The update that shows it, by its place in `updates`; nil for none.
    var by: Int?

    var testDescription: String { name }

    private static let call = ScriptedUpdates()
    private static let (invite, queue) = (call.invite(), call.provisional(182, at: 1))
    private static let (forwarded, ringing) = (call.provisional(181, at: 1), call.provisional(180, at: 3))
    private static let progress = call.provisional(183, at: 2)
    private static let (cancel, gone) = (call.cancelled(at: 9), call.failed(487, at: 9.1))

    /// A 183 and a final response.
    private static func end(
        _ status: UInt16, q850: UInt16 = 0, sip: UInt16 = 0, _ outcome: CallOutcome, _ why: String, shown: Bool
    ) -> DisplayCourse {
        DisplayCourse(
            name: "183, then \(status)\(q850 == 0 ? "" : " Q.850 \(q850)"): \(why)",
            updates: [progress, call.failed(status, q850: q850, sip: sip, at: 10)], outcome: outcome,
            evidence: shown ? .alerting : nil, at: shown ? 2 : nil, by: shown ? 1 : nil)
    }

    static let table: [DisplayCourse] =
        [
            .init(
                name: "182 and the caller gives up, RFC 3261 §21.1.4", updates: [queue, cancel, gone],
                outcome: .missed, evidence: nil),
            .init(
                name: "181 and the caller gives up, RFC 3261 §21.1.3", updates: [forwarded, cancel, gone],
                outcome: .missed, evidence: nil),
            .init(
                name: "199 and the caller gives up, RFC 6228", updates: [call.provisional(199, at: 1), cancel, gone],
                outcome: .missed, evidence: nil),
            .init(
                name: "180 at once, RFC 3261 §21.1.2", updates: [ringing, call.failed(404, at: 9)], outcome: .missed,
                evidence: .alerting, at: 3, by: 0),
            .init(
                name: "180 after 183: an announcement, then the phone", updates: [progress, ringing, cancel, gone],
                outcome: .missed, evidence: .alerting, at: 3, by: 1),
            .init(
                name: "183 after 180", updates: [ringing, call.provisional(183, at: 4), call.failed(503, at: 9)],
                outcome: .missed, evidence: .alerting, at: 3, by: 0),
            .init(
                name: "183 and a person answers", updates: [progress, call.answered(at: 5), call.bye(at: 9)],
                outcome: .answered, evidence: .answered, at: 2, by: 1),
            .init(
                name: "183 and a queue answers",
                updates: [progress, call.answered(at: 5, by: .system), call.bye(at: 9)], outcome: .answered,
                evidence: nil),
            .init(
                name: "183 and a voicemail box answers",
                updates: [progress, call.answered(at: 5, by: .voicemail), call.bye(at: 9)], outcome: .missed,
                evidence: nil),
            .init(
                name: "183, 180, and a queue answers: an agent's phone rang",
                updates: [progress, ringing, call.answered(at: 5, by: .system), call.bye(at: 9)], outcome: .answered,
                evidence: .alerting, at: 3, by: 1),
            .init(
                name: "183, CANCEL, 487", updates: [progress, cancel, gone], outcome: .missed, evidence: .alerting,
                at: 2, by: 2),
            .init(
                name: "183, CANCEL for another phone's 2xx",
                updates: [progress, call.cancelled(sip: 200, at: 9), gone],
                outcome: .answeredElsewhere, evidence: .alerting, at: 2, by: 2),
            .init(
                name: "183, and the CANCEL crosses a 404", updates: [progress, cancel, call.failed(404, at: 9.1)],
                outcome: .missed, evidence: nil),
            .init(
                name: "183, 401, then an INVITE that rings nowhere",
                updates: [
                    progress, call.failed(401, at: 3), call.invite(at: 4), call.failed(480, at: 6),
                ], outcome: .failed, evidence: nil),
            .init(
                name: "a 183 of its own for the second INVITE",
                updates: [
                    call.failed(401, at: 1), call.invite(at: 1.5), progress, call.failed(480, at: 6),
                ], outcome: .missed, evidence: .alerting, at: 2, by: 3),
        ]
        + [
            end(408, .missed, "RFC 3261 §16.7, Timer C", shown: true),
            end(480, .missed, "RFC 3261 §21.4.18", shown: true),
            end(480, q850: 19, .missed, "Q.850 19, the user was alerted", shown: true),
            end(480, q850: 18, .missed, "Asterisk's answer to a Dial without result", shown: true),
            end(486, .busy, "RFC 3261 §21.4.24", shown: true),
            end(487, .missed, "its CANCEL passed while the gateway was down", shown: true),
            end(600, .busy, "RFC 3261 §21.6.1", shown: true),
            end(603, .rejected, "RFC 3261 §21.6.2", shown: true),
            end(603, q850: 16, .missed, "Asterisk 16 and 22, the PBX gave up", shown: true),
            end(607, .rejected, "RFC 8197", shown: true),
            end(403, q850: 21, .rejected, "Asterisk 16 and 22, user declined", shown: true),
            end(404, .failed, "an announcement: not in service", shown: false),
            end(410, .failed, "an announcement: the number has changed", shown: false),
            end(484, .failed, "an announcement: incomplete", shown: false),
            end(403, .failed, "an announcement: barred", shown: false),
            end(488, .failed, "no common codec", shown: false),
            end(302, .failed, "sent elsewhere", shown: false),
            end(407, .failed, "a challenge that nobody meets", shown: false),
            end(500, .failed, "RFC 3261 §21.5", shown: false),
            end(503, q850: 34, .failed, "an announcement: all circuits are busy", shown: false),
            end(504, .failed, "RFC 3261 §21.5.5", shown: false),
            end(604, .failed, "RFC 3261 §21.6.3: exists nowhere, as 404", shown: false),
            end(606, .failed, "RFC 3261 §21.6.4: not acceptable, as 488", shown: false),
            end(603, sip: 608, .blocked, "ATIS-1000099, analytics of a network", shown: false),
            end(608, .blocked, "RFC 8688, an analytics service", shown: false),
            end(480, q850: 20, .failed, "an announcement: subscriber absent", shown: false),
            end(480, q850: 1, .failed, "an announcement: unallocated number", shown: false),
        ]
}

@Suite("`displayed` only where a phone showed the name")
struct DisplayEvidenceTests {
    @Test(arguments: DisplayCourse.table)
    func `a course proves a display or not, at its time and once`(course: DisplayCourse) {
        var machine = CallStateMachine(after: [ScriptedUpdates().invite()])
        var reached: [Int] = []
        for (place, update) in course.updates.enumerated() where machine.receive(update).contains(.reached) {
            reached.append(place)
        }
        // Redirections, challenges and a wish for more digits end when nothing more comes.
        if machine.expire(now: ScriptedUpdates.start + 90_000_000, limits: .init()).contains(.reached) {
            reached.append(course.updates.count)
        }
        let record = machine.record
        #expect(record.outcome == course.outcome)
        #expect(record.displayEvidence == course.evidence)
        #expect(reached == (course.by.map { [$0] } ?? []))
        #expect(record.reachedAt == course.at.map { ScriptedUpdates.start + Int64($0 * 1_000_000) })
        #expect((EventMinter().displayed(record, callID: "id") != nil) == (course.evidence != nil))
        let end = EventMinter().ended(record, callID: "id")
        #expect(end?.meta.brandingApplied == (course.evidence != nil))
        #expect((end?.outcome == "error") == (course.outcome == .failed))
        if course.evidence == nil { #expect(record.ringSeconds == nil) }
    }

    @Test func `a call whose end nobody saw proves nothing with its 183`() {
        var machine = CallStateMachine(after: [ScriptedUpdates().invite(), ScriptedUpdates().provisional(183, at: 2)])
        let step = machine.expire(now: .max, limits: .init())
        #expect(step.contains(.ended) && !step.contains(.reached))
        #expect(machine.record.displayEvidence == nil)
    }

    @Test func `a 183 of a failed attempt proves nothing for the next one`() {
        let call = ScriptedUpdates()
        var machine = CallStateMachine(
            after: [call.invite(), call.provisional(183, at: 1), call.failed(503, at: 2)], awaitsRedial: true)
        #expect(machine.isOpenToRedial, "no phone is known to have rung")
        let next = CallIdentifier(high: 5, low: 6)
        #expect(!machine.redialled(as: next, sipCallID: "b", at: ScriptedUpdates.start + 3_000_000).isEmpty)
        #expect(!machine.receive(call.failed(486, at: 4)).contains(.reached))
        #expect(machine.record.outcome == .busy && machine.record.displayEvidence == nil)
    }

    @Test func `a phone that rang early media and was given up waits for no other attempt`() {
        let call = ScriptedUpdates()
        let machine = CallStateMachine(
            after: [call.invite(), call.provisional(183, at: 1), call.failed(480, at: 30)], awaitsRedial: true)
        #expect(machine.record.outcome == .missed)
    }

    /// A gateway of a cluster reports its 180 after the 2xx of a queue.
    @Test func `the 180 of a sibling shows the name though a machine has answered`() {
        let call = ScriptedUpdates()
        var machine = CallStateMachine(after: [call.invite(), call.answered(at: 5, by: .system)])
        #expect(machine.receive(foreign: call.provisional(180, at: 3)) == [.changed, .reached])
        #expect(machine.receive(call.bye(at: 9)) == [.changed, .ended])
    }

    @Test(arguments: [(404, false), (487, true)] as [(UInt16, Bool)])
    func `a 183 that is reported after the end counts by that end`(status: UInt16, isShown: Bool) throws {
        let call = ScriptedUpdates()
        let record = CallStateMachine(after: [call.invite(), call.failed(status, at: 9)]).record
        let corrected = try #require(record.corrected(byLate: call.provisional(183, at: 2)))
        #expect((corrected.displayEvidence != nil) == isShown)
        #expect(record.corrected(byLate: call.provisional(182, at: 2)) == nil)
    }

    @Test(arguments: [(404, false), (480, true)] as [(UInt16, Bool)])
    func `an outbound call reaches its callee by the same signs`(status: UInt16, isReached: Bool) {
        var call = ScriptedUpdates()
        (call.direction, call.reason) = (.outbound, .outbound)
        var machine = CallStateMachine(after: [call.invite()])
        #expect(machine.receive(call.provisional(183, at: 1)) == .changed)
        #expect(machine.receive(call.failed(status, at: 9)).contains(.reached) == isReached)
    }
}
