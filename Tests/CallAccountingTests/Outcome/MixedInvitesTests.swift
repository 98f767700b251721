// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

/// Requirements: one call may leave by several INVITEs, of which some have no brand (RFC 3261 §16.6, §22.2). Evidence of a display
/// comes from a phone that got the name; in doubt there is none.
@Suite("A call by INVITEs with a brand and without one")
struct MixedInvitesTests {
    /// What follows the first INVITE, which has a brand unless the row says otherwise.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first: PassThroughReason?
        let updates: [CallUpdate]
        let decision: String
        var evidence: DisplayEvidence?
        var brand: String? = "Acme Bank"
    }

    private static let on = ScriptedUpdates()
    /// Later updates carry no certain reason.
    private static let unbranded = ScriptedUpdates(reason: .noMatch)

    private static func invite(
        _ reason: PassThroughReason?, at seconds: Double, to further: UInt64 = 0
    ) -> CallUpdate {
        var invite = ScriptedUpdates(destination: on.destination + further, reason: reason).invite(at: seconds)
        var evidence = DecisionEvidence()
        evidence.isInShadow = reason == .shadow
        invite.evidence = evidence
        return invite
    }

    static let rows: [Row] = [
        Row(
            testDescription: "503, and again by a trunk in shadow",
            updates: [
                on.failed(503, at: 1), invite(.shadow, at: 2), unbranded.provisional(180, at: 3),
                unbranded.answered(at: 9),
            ], decision: "shadow"),
        Row(
            testDescription: "a challenge, and again in shadow",
            updates: [on.failed(407, at: 1), invite(.shadow, at: 1), unbranded.answered(at: 9)], decision: "shadow"),
        Row(
            testDescription: "503, and again by a trunk with brands: false",
            updates: [on.failed(503, at: 1), invite(.policy, at: 2), unbranded.provisional(180, at: 3)],
            decision: "policy", brand: nil),
        Row(
            testDescription: "503, and again with the brand",
            updates: [on.failed(503, at: 1), invite(nil, at: 2), on.provisional(180, at: 3)], decision: "matched",
            evidence: .alerting),
        Row(
            testDescription: "in shadow, and again with the brand: the first one decides", first: .shadow,
            updates: [unbranded.failed(503, at: 1), invite(nil, at: 2), on.provisional(180, at: 3)],
            decision: "shadow"),
        Row(
            testDescription: "a fork, and the phone in shadow rings and is answered",
            updates: [invite(.shadow, at: 0, to: 1), unbranded.provisional(180, at: 2), unbranded.answered(at: 9)],
            decision: "shadow"),
        Row(
            testDescription: "a fork, and the phone in shadow is answered before the other one rings",
            updates: [invite(.shadow, at: 0, to: 1), unbranded.answered(at: 2), on.provisional(180, at: 3)],
            decision: "shadow"),
        Row(
            testDescription: "a fork, and the phone with the brand rings",
            updates: [invite(.shadow, at: 0, to: 1), on.provisional(180, at: 2)], decision: "matched",
            evidence: .alerting),
        Row(
            testDescription: "a fork, and both phones ring",
            updates: [invite(.shadow, at: 0, to: 1), unbranded.provisional(180, at: 2), on.provisional(180, at: 3)],
            decision: "matched", evidence: .alerting),
        Row(
            testDescription: "a fork, and a person answers with the brand",
            updates: [invite(.shadow, at: 0, to: 1), unbranded.provisional(180, at: 2), on.answered(at: 3)],
            decision: "matched", evidence: .alerting),
        Row(
            testDescription: "a fork, and voicemail takes the call of the phone in shadow",
            updates: [
                invite(.shadow, at: 0, to: 1), unbranded.provisional(180, at: 2), on.answered(at: 3, by: .voicemail),
            ], decision: "shadow"),
        Row(
            testDescription: "the phone with the brand rang before the other INVITE",
            updates: [on.provisional(180, at: 1), invite(.shadow, at: 2, to: 1), unbranded.answered(at: 3)],
            decision: "matched", evidence: .alerting),
        Row(
            testDescription: "a fork, all fail, and again in shadow: no earlier branch can ring",
            updates: [
                invite(.shadow, at: 0, to: 1), on.failed(407, at: 1), invite(.shadow, at: 1, to: 1),
                on.provisional(180, at: 2),
            ], decision: "shadow"),
        Row(
            testDescription: "the INVITE comes back from the PBX, and has its brand already",
            updates: [invite(.alreadyBranded, at: 0), unbranded.provisional(180, at: 2)], decision: "matched",
            evidence: .alerting),
    ]

    @Test(arguments: rows) func `evidence is of the phone that got the name`(row: Row) {
        for isForeign in [false, true] {
            var machine = CallStateMachine(after: [Self.invite(row.first, at: 0)], awaitsRedial: true)
            var reached = 0
            for update in row.updates {
                // Each gateway sees its own INVITE; siblings report responses to each other.
                let step =
                    isForeign && update.kind == .provisional
                    ? machine.receive(foreign: update) : machine.receive(update)
                if step.contains(.reached) { reached += 1 }
            }
            let record = machine.record
            #expect(record.decision == row.decision && record.displayEvidence == row.evidence)
            #expect(reached == (row.evidence == nil ? 0 : 1))
            #expect(record.brandName == row.brand)
            #expect(record.isInShadow == (row.decision == "shadow"))
            #expect(record.isBranded == (row.decision == "matched"))
        }
    }

    @Test(arguments: [false, true]) func `a late report of a phone without the name is no display`(isBranded: Bool) {
        let record = CallStateMachine(after: [Self.invite(nil, at: 0), Self.on.failed(503, at: 9)]).record
        let call = isBranded ? Self.on : Self.unbranded
        let corrected = record.corrected(byLate: call.provisional(180, at: 2))
        #expect(corrected?.displayEvidence == (isBranded ? .alerting : nil))
    }

    @Test func `the decision of another gateway's INVITE is taken with its call`() throws {
        let other = CallStateMachine(after: [Self.invite(.shadow, at: 0), Self.unbranded.provisional(180, at: 2)])
        var machine = CallStateMachine(after: [Self.invite(nil, at: 0)])
        #expect(machine.decided(also: other.record) == [.changed, .parties])
        // A version that does not know the reason `shadow` reads them too.
        #expect(other.record.facts.map(\.reason) == [.noMatch])
        for fact in other.record.facts { _ = machine.receive(foreign: fact) }
        #expect(machine.record.decision == "shadow" && machine.record.displayEvidence == nil)
        #expect(machine.record.ringingAt != nil)
    }
}
