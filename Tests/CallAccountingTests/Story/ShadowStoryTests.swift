// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing
import Trust

/// Requirements: the story has the brand that was found, and never claims that a phone showed it.
@Suite("The story of a call in shadow")
struct ShadowStoryTests {
    private static func record(
        brand: String? = "Acme Bank", isNamed: Bool = true, origin: NameOrigin = .directory
    ) throws -> CallRecord {
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, sipCallID: "a@b", trunk: "carrier",
            caller: E164Number("+61255501001"), subscriber: "reception", brandID: origin == .signature ? nil : "b-7",
            brandName: brand, carrierName: "Carrier", reason: .shadow, inviteAt: 0)
        var evidence = DecisionEvidence()
        (evidence.isInShadow, evidence.isNamed, evidence.writesCallInfo) = (true, isNamed, true)
        (evidence.header, evidence.isTrusted, evidence.lookup) = (.pAssertedIdentity, true, .brandFound)
        (evidence.logo, evidence.callReason) = (.written, .absent)
        evidence.isNamedBySigner = origin == .signature
        record.evidence = evidence
        (record.ringingAt, record.endedAt, record.outcome, record.status) = (1_000_000, 13_000_000, .missed, 480)
        return record
    }

    private static let course =
        "<+61255501001> rang <reception> for 12 s and was not answered; no brand, because brands: shadow is set for "
        + "trunk carrier or the route; "

    @Test(arguments: [
        (true, NameOrigin.directory, "\"Acme Bank\" was not written"),
        (true, .signature, "the signed name \"Acme Bank\" was not written"),
        (false, .directory, "logo or reason of the brand were not written"),
    ])
    func `the sentence names the caller by number, and the name that was not written`(
        isNamed: Bool, origin: NameOrigin, end: String
    ) throws {
        let story = CallStory(try Self.record(isNamed: isNamed, origin: origin))
        #expect(story.title.text { "<\($0)>" } == Self.course + end)
    }

    @Test func `nothing of it counts as sent`() throws {
        let story = CallStory(try Self.record())
        #expect(story.sent == nil && story.changes.isEmpty && !story.record.isBranded)
        let unsent = try #require(story.unsent)
        #expect(unsent.name?.text { $0 } == "Acme Bank" && unsent.logo == .written && !unsent.isSigned)
        #expect(CallLadder(story).rungs.first?.what == "INVITE unbranded: shadow")
        #expect(story.missing?.remedy.text { $0 } == "Set brands: true to brand, then run herald reload.")
    }

    @Test(arguments: PassThroughReason.allCases) func `only a call in shadow has an unsent brand`(
        reason: PassThroughReason
    ) throws {
        var record = try Self.record()
        record.reason = reason
        #expect((CallStory(record).unsent == nil) == (reason != .shadow))
        #expect((record.brandInShadow == nil) == (reason != .shadow))
    }

    @Test func `a signed name is no brand of the directory`() throws {
        let record = try Self.record(origin: .signature)
        #expect(record.isNamedBySigner && record.brandInShadow == nil)
    }

    /// The directory is asked for the brand of an unknown caller after a call; of a call in shadow it learns nothing.
    @Test(arguments: [false, true]) func `no lookup follows a call in shadow`(isInShadow: Bool) throws {
        var record = try Self.record()
        record.reason = .noMatch
        record.evidence?.isInShadow = isInShadow
        #expect(record.isUnknownCaller == !isInShadow)
    }
}
