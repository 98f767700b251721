// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Primitives
import Testing

@testable import CallAccounting

@Suite("Events of a call, securenode-endpoint-contract §7")
struct EventMinterTests {
    private let call = ScriptedUpdates()
    private let minter = EventMinter()

    private func record(_ updates: [CallUpdate]) -> CallRecord { CallStateMachine(after: updates).record }

    @Test func `displayed carries its evidence and the brand`() throws {
        let record = record([call.invite(), call.provisional(183, at: 2.7), call.provisional(180, at: 4)])
        let event = try #require(minter.displayed(record, callID: "id"))
        #expect(event.key == "displayed:id")
        #expect(event.number == "+4930123456")
        #expect(event.outcome == "displayed")
        #expect(event.surface == "sip")
        #expect(event.displayedAt == "2026-01-01T00:00:04Z")
        var meta = OutcomeEvent.Meta()
        meta.callEventID = "id"
        meta.callerNumber = "+4930123456"
        meta.destinationNumber = "+61291234567"
        meta.observedAt = "2026-01-01T00:00:04Z"
        meta.brandingApplied = true
        meta.brandingProfileID = "b-7"
        meta.identityType = "brand"
        meta.displayEvidence = "alerting"
        meta.decision = "matched"
        meta.sipStatus = 180
        meta.trunk = "carrier"
        #expect(event.meta == meta)
    }

    @Test func `the end of an answered call carries both durations`() throws {
        let record = record([
            call.invite(), call.provisional(180, at: 1), call.answered(at: 13), call.bye(at: 193),
        ])
        let event = try #require(minter.ended(record, callID: "id"))
        #expect(event.key == "call_seen:id")
        #expect(event.displayedAt == "2026-01-01T00:00:01Z")
        #expect(event.meta.observedAt == "2026-01-01T00:03:13Z")
        #expect(event.meta.callOutcome == "ANSWERED")
        #expect(event.meta.ringDuration == 12)
        #expect(event.meta.callDuration == 180)
        #expect(event.meta.returnCallDetected == false)
    }

    @Test(arguments: [
        (486, false, "BUSY", "missed"), (480, true, "MISSED", "missed"), (603, true, "REJECTED", "call_seen"),
        (608, false, "BLOCKED", "call_seen"), (404, false, "FAILED", "error"),
    ])
    func `the word follows the outcome and branding is claimed only with evidence`(
        status: UInt16, rings: Bool, outcome: String, word: String
    ) throws {
        let updates = [call.invite()] + (rings ? [call.provisional(180, at: 1)] : [])
        let record = record(updates + [call.failed(status, q850: status == 486 ? 17 : 0, at: 5)])
        let event = try #require(minter.ended(record, callID: "id"))
        #expect(event.outcome == word)
        #expect(event.key == word + ":id")
        #expect(event.meta.callOutcome == outcome)
        #expect(event.meta.brandingApplied == rings)
        #expect(event.meta.sipStatus == Int(status))
        #expect(event.meta.q850Cause == (status == 486 ? 17 : nil))
        #expect(event.meta.callDuration == nil)
        #expect((minter.displayed(record, callID: "id") != nil) == rings)
    }

    @Test func `docs, events: every field of meta is explained, and nothing else`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/events.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Fields of `meta`").last)
        let table = try #require(section.components(separatedBy: "\n## ").first)
        let explained = table.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(explained.sorted() == OutcomeEvent.Meta.CodingKeys.allCases.map(\.rawValue).sorted())
    }

    @Test func `a name trimmed away for size is not displayed and is no event`() {
        var call = call
        call.reason = .trimmed
        let record = record([call.invite(), call.provisional(180, at: 1), call.answered(at: 2), call.bye(at: 3)])
        #expect(record.displayEvidence == nil)
        #expect(record.decision == "trimmed")
        #expect(minter.passedThrough(record, callID: "id") == nil)
        #expect(minter.displayed(record, callID: "id") == nil)
        #expect(minter.ended(record, callID: "id") == nil)
    }

    @Test func `the same record gives the same event`() {
        let record = record([call.invite(), call.provisional(180, at: 1), call.failed(486, at: 5)])
        #expect(minter.ended(record, callID: "id") == minter.ended(record, callID: "id"))
    }

    @Test(arguments: PassThroughReason.allCases)
    func `an unbranded call reports to the directory nothing but closed gates`(reason: PassThroughReason) {
        var call = call
        call.reason = reason
        let record = record([call.invite(), call.provisional(180, at: 1), call.answered(at: 2), call.bye(at: 3)])
        let event = minter.passedThrough(record, callID: "id")
        #expect(event?.key == (reason.isGate ? "branding_disabled:id" : nil))
        #expect(event?.meta.decision == (reason.isGate ? reason.description : nil))
        #expect(event?.meta.brandingApplied == (reason.isGate ? false : nil))
        #expect(minter.displayed(record, callID: "id") == nil)
        #expect(minter.ended(record, callID: "id") == nil)
    }

    @Test func `a gated call without a number says nothing`() {
        var call = call
        call.reason = .gatedCapReached
        call.caller = 0
        #expect(minter.passedThrough(record([call.invite()]), callID: "id") == nil)
    }

    @Test func `no match is reported only where the operator wants it`() {
        var call = call
        call.reason = .noMatch
        var vocabulary = EventVocabulary()
        vocabulary.noMatchShare = 1
        let event = EventMinter(vocabulary: vocabulary).passedThrough(record([call.invite()]), callID: "id")
        #expect(event?.key == "no_match:id")
        #expect(event?.meta.brandingProfileID == nil)
        #expect(event?.meta.identityType == nil)
    }

    @Test(arguments: [(0.0, 0), (0.1, 100), (0.5, 500), (1.0, 1000)])
    func `a share of them is reported, and the same calls each time`(share: Double, count: Int) {
        var vocabulary = EventVocabulary()
        vocabulary.noMatchShare = share
        let minter = EventMinter(vocabulary: vocabulary)
        var call = call
        call.reason = .noMatch
        let reported = (0..<1000).filter { number in
            call.call = CallIdentifier(high: 1, low: UInt64(number) * (.max / 1000))
            return minter.passedThrough(record([call.invite()]), callID: "id") != nil
        }
        #expect(abs(reported.count - count) <= 1)
    }

    @Test func `an event names the machine that answered, the forwarding and the attempts`() throws {
        let answered = call.answered(at: 13, by: [.voicemail, .forwarded])
        var machine = CallStateMachine(after: [call.invite(), call.failed(407, at: 0.5), call.invite(at: 1)])
        for update in [call.provisional(180, at: 2), answered, call.bye(at: 30)] { _ = machine.receive(update) }
        let event = try #require(minter.ended(machine.record, callID: "id"))
        #expect(event.key == "missed:id")
        #expect(event.meta.callOutcome == "MISSED")
        #expect(event.meta.voicemail == true)
        #expect(event.meta.answeredBy == "voicemail")
        #expect(event.meta.forwarded == true)
        #expect(event.meta.attempts == 2)
        #expect(event.meta.ringDuration == 11)
        #expect(event.meta.callDuration == nil)
    }

    @Test func `another directory's words are words and keys`() throws {
        var vocabulary = EventVocabulary()
        vocabulary.returned = "call_returned"
        vocabulary.surface = "voip"
        let original = ReturnedOriginal(
            callID: "first", number: try #require(E164Number("+4930123456")), brandID: "b-7",
            endedAt: ScriptedUpdates.start, eventID: "evt-1")
        var outbound = call
        outbound.direction = .outbound
        outbound.reason = .outbound
        outbound.caller = 61_291_234_567
        outbound.destination = 4_930_123_456
        let record = record([outbound.invite(at: 60), outbound.provisional(180, at: 62)])
        let event = try #require(
            EventMinter(vocabulary: vocabulary).returned(record, original: original, latency: 60))
        #expect(event.key == "call_returned:first")
        #expect(event.callID == "first")
        #expect(event.surface == "voip")
        #expect(event.number == "+4930123456")
        #expect(event.meta.callEventID == "first")
        #expect(event.meta.callerNumber == "+61291234567")
        #expect(event.meta.destinationNumber == "+4930123456")
        #expect(event.meta.returnCallDetected == true)
        #expect(event.meta.returnCallLatency == 60)
        #expect(event.meta.originalEventID == "evt-1")
        #expect(event.displayedAt == "2026-01-01T00:01:02Z")
    }

    @Test func `the JSON of meta has every field in its order, whatever the texts hold`() throws {
        let brand = "quote \" backslash \\ tab \t nul \u{0} ä 🏦"
        var record = record([
            call.invite(), call.provisional(180, at: 1), call.answered(at: 2, by: [.voicemail, .forwarded]),
            call.bye(at: 1_236),
        ])
        let texts = CallTexts(brandID: Array(brand.utf8))
        var ended = CallRecord(call.invite(), texts: texts, trunk: "carrier \u{1b}[31m", customer: "north")
        (ended.ringingAt, ended.answeredAt, ended.endedAt) = (record.ringingAt, record.answeredAt, record.endedAt)
        (ended.outcome, ended.machine, ended.isForwarded) = (.answered, .system, true)
        (ended.status, ended.q850Cause, ended.attempts) = (200, 16, 2)
        var buffer = TextBuffer(capacity: 0)
        let event = try #require(minter.ended(ended, callID: "id", to: &buffer))
        #expect(
            buffer.withUnsafeBytes { String(decoding: $0[event.meta], as: UTF8.self) }
                == """
                {"call_event_id":"id","caller_number_e164":"+4930123456","destination_number_e164":"+61291234567",\
                "observed_at_utc":"2026-01-01T00:20:36Z","branding_applied":true,\
                "branding_profile_id":"quote \\" backslash \\\\ tab \\u0009 nul \\u0000 ä 🏦","identity_type":"brand",\
                "ring_duration_seconds":1,"call_duration_seconds":1234,"call_outcome":"ANSWERED",\
                "return_call_detected":false,"display_evidence":"alerting","decision":"matched","sip_status":200,\
                "q850_cause":16,"trunk":"carrier \\u001b[31m","forwarded":true,"answered_by":"system","attempts":2}
                """)
        #expect(minter.ended(ended, callID: "id")?.meta.brandingProfileID == brand)
        #expect(minter.ended(ended, callID: "id")?.customer == "north")
        (record.caller, record.status) = (ended.caller, 180)
        let original = ReturnedOriginal(
            callID: "first", number: try #require(record.caller), brandID: brand, endedAt: 0, eventID: "evt")
        let returned = minter.returned(record, original: original, latency: 600, to: &buffer)
        #expect(
            buffer.withUnsafeBytes { String(decoding: $0[returned.meta], as: UTF8.self) }
                == """
                {"call_event_id":"first","caller_number_e164":"+4930123456","destination_number_e164":"+4930123456",\
                "observed_at_utc":"2026-01-01T00:00:01Z","branding_applied":true,\
                "branding_profile_id":"quote \\" backslash \\\\ tab \\u0009 nul \\u0000 ä 🏦","identity_type":"brand",\
                "return_call_detected":true,"return_call_latency_seconds":600,"sip_status":180,"trunk":"carrier",\
                "original_event_id":"evt"}
                """)
        let meta = try #require(minter.returned(record, original: original, latency: 600)).meta
        #expect(Mirror(reflecting: meta).children.count == OutcomeEvent.Meta.CodingKeys.allCases.count)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (1_767_225_599, "2025-12-31T23:59:59Z"),
        (1_772_323_200, "2026-03-01T00:00:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"), (-5, "1970-01-01T00:00:00Z"),
    ])
    func `moments are written in UTC with whole seconds`(seconds: Int64, text: String) {
        var texts = TextBuffer(capacity: 0)
        texts.append(time: seconds * 1_000_000 + (seconds < 0 ? 0 : 999_999))
        #expect(texts.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == text)
    }
}
