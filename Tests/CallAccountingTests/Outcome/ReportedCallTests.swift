// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

/// A call that a PBX reports by a door after its end.
@Suite("Reported calls")
struct ReportedCallTests {
    private static let call = ScriptedUpdates()

    private static func invite(isNamed: Bool, reason: PassThroughReason? = nil) -> CallUpdate {
        var call = call
        call.reason = reason
        var invite = call.invite()
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isNamed) = (.report, isNamed)
        invite.evidence = evidence
        return invite
    }

    /// What the PBX reported, and the words of the events that follow.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isNamed: Bool
        var reason: PassThroughReason?
        let updates: [CallUpdate]
        let outcome: CallOutcome
        let events: [String]
    }

    private static let (ringing, busy) = (call.provisional(180, at: 2), call.failed(486, q850: 17, at: 9))
    private static let (success, bye) = (call.answered(at: 5), call.bye(at: 65))
    private static let (cancel, gone) = (call.cancelled(at: 9), call.failed(487, at: 9))

    static let rows: [Row] = [
        Row(
            testDescription: "a phone rang with the name", isNamed: true, updates: [ringing, success, bye],
            outcome: .answered, events: ["displayed", "call_seen"]),
        Row(
            testDescription: "missed with the name", isNamed: true, updates: [ringing, cancel, gone],
            outcome: .missed, events: ["displayed", "missed"]),
        Row(
            testDescription: "the name was given, and no phone is known to have shown it", isNamed: false,
            updates: [ringing, success, bye], outcome: .answered, events: ["call_seen"]),
        Row(
            testDescription: "no phone rang", isNamed: true, updates: [call.failed(404, q850: 1, at: 1)],
            outcome: .failed, events: ["error"]),
        Row(
            testDescription: "voicemail without ringing has no display", isNamed: true,
            updates: [call.answered(at: 5, by: .voicemail), bye], outcome: .missed, events: ["missed"]),
        Row(
            testDescription: "declined", isNamed: true, updates: [ringing, busy], outcome: .rejected,
            events: ["displayed", "call_seen"]),
        Row(
            testDescription: "more digits are asked for, and none come", isNamed: false,
            updates: [call.failed(484, q850: 28, at: 1)], outcome: .failed, events: ["error"]),
        Row(
            testDescription: "nobody asked for the name", isNamed: false, reason: .notAsked,
            updates: [ringing, success, bye], outcome: .answered, events: []),
        Row(
            testDescription: "in shadow", isNamed: false, reason: .shadow, updates: [ringing, success, bye],
            outcome: .answered, events: []),
    ]

    @Test(arguments: rows) func `it ends with its report, and a name counts as shown by the PBX's word alone`(
        _ row: Row
    ) {
        let machine = CallStateMachine(
            after: [Self.invite(isNamed: row.isNamed, reason: row.reason)] + row.updates, awaitsRedial: true)
        let record = machine.record
        #expect(record.outcome == row.outcome && record.endedAt != nil)
        #expect((record.displayEvidence != nil) == row.events.contains("displayed"))
        let minter = EventMinter()
        let passed = minter.passedThrough(record, callID: "x")?.outcome
        let shown = minter.displayed(record, callID: "x")?.outcome
        let ended = minter.ended(record, callID: "x")?.outcome
        #expect(passed == nil)
        #expect([shown, ended].compactMap { $0 } == row.events)
    }

    @Test func `a repeated report changes nothing`() {
        let report = [Self.invite(isNamed: true), Self.ringing, Self.success, Self.bye]
        var machine = CallStateMachine(after: report)
        let record = machine.record
        for update in report { #expect(machine.receive(update).isEmpty) }
        #expect(machine.record == record && record.attempts == 1)
    }

    @Test func `the story has the times that were reported, and no message of Herald`() {
        func story(isNamed: Bool, reason: PassThroughReason? = nil) -> CallStory {
            let updates = [Self.invite(isNamed: isNamed, reason: reason), Self.ringing, Self.success, Self.bye]
            return CallStory(CallStateMachine(after: updates).record)
        }
        let shown = story(isNamed: true)
        #expect(
            shown.title.text { $0 }.hasSuffix("talked for 1 min 0 s; the phone showed \"Acme Bank\""), "\(shown.title)")
        #expect(shown.changes.isEmpty)
        let rungs = CallLadder(shown).rungs
        #expect(rungs.map(\.sinceInvite) == [0, 2_000_000, 5_000_000, 65_000_000])
        #expect(rungs.allSatisfy { $0.left == nil && $0.right == nil && $0.label.isEmpty })
        let unshown = story(isNamed: false).title.text { $0 }
        #expect(unshown.hasSuffix("no phone is known to have shown \"Acme Bank\""), "\(unshown)")
        let unasked = story(isNamed: false, reason: .notAsked).title.text { $0 }
        #expect(unasked.hasSuffix("no brand, because the PBX did not ask for the name"), "\(unasked)")
    }

    // MARK: The ring

    private let folder = RingFolder()

    private func read(_ ring: UpdateRing) -> [CallUpdate] {
        var updates: [CallUpdate] = []
        _ = ring.read(after: 0, limit: .max) { update, _ in updates.append(update) }
        return updates
    }

    private let whole = [Self.invite(isNamed: true), Self.ringing, Self.success, Self.bye]
    private let texts = CallTexts(
        sipCallID: Array(repeating: 0x61, count: 160), brandName: Array("Acme Bank".utf8), brandID: Array("b-7".utf8))

    @Test func `a whole call comes out in its order, and its number is that of the last slot`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 64)
        let position = try #require(ring.append(whole: whole, texts: texts))
        #expect(read(ring) == whole && position == ring.claimed)
        ring.release(through: position)
        #expect(ring.released == position)
    }

    @Test func `a kill before the last store leaves nothing that ends as a call`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 64)
        _ = ring.append(whole: whole, texts: texts)
        let killed = try folder.killed()
        // The number of the first slot, which is stored last.
        try RingFolder.poke(killed, at: UInt64(UpdateRingFile.headerSize), 0)
        let next = try UpdateRing(path: killed, capacity: 64)
        #expect(!read(next).contains { $0.kind == .invite })
        _ = next.append(whole: whole, texts: texts)
        #expect(read(next).suffix(4) == whole[...])
    }

    /// A call that passes the gateway is reported once, and a PBX repeats its report.
    @Test func `reports take a quarter of the ring, and leave the rest to calls`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 32)
        #expect(ring.append(whole: whole, texts: texts) != nil)
        #expect(ring.append(whole: whole, texts: texts) == nil)
        #expect(read(ring) == whole && ring.shed.branded == 0)
        #expect(ring.append(Self.ringing))
    }
}
