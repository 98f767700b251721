// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import GatewayOperator

@Suite("Lookup result")
struct LookupResultTests {
    private let index: BrandIndex

    init() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 2)
        builder.add(
            BrandRecord(
                number: try #require(E164Number("+61255501001")), name: "Harbour \"Bay\" Dental", brandID: "b-1",
                logoURL: "https://logos.example.com/h.png", callReason: "Your appointment", updatedAt: ""))
        builder.add(
            BrandRecord(
                number: try #require(E164Number("+61255501002")), name: "Plain", brandID: "b-2", updatedAt: ""))
        index = builder.finish()
    }

    private func question(
        _ number: String, trusted: Bool = true, verification: Verification = .none, callInfo: Bool = true
    ) -> LookupResult.Question {
        LookupResult.Question(
            number: number, normaliser: NumberNormaliser(region: Region("AU")), trunkTrusted: trusted,
            verification: verification, policy: .standard, host: "203.0.113.5", writesCallInfo: callInfo)
    }

    @Test(arguments: ["+61255501001", "(02) 5550 1001", "0011 61 2 5550 1001"])
    func `a known number in any form gets the exact header lines`(number: String) {
        let result = LookupResult(question(number), gates: .init(), index: index)
        #expect(result.decision == "matched")
        #expect(result.brand?.name == "Harbour \"Bay\" Dental")
        #expect(result.brand?.brandID == "b-1")
        #expect(
            result.brand?.headers == [
                #"From: "Harbour \"Bay\" Dental" <sip:+61255501001@203.0.113.5>"#,
                #"Call-Info: <https://logos.example.com/h.png>;purpose=icon;call-reason="Your appointment""#,
            ])
    }

    @Test func `without logo and reason, or with Call-Info off, the name is alone`() {
        let plain = LookupResult(question("+61255501002"), gates: .init(), index: index)
        #expect(plain.brand?.headers == [#"From: "Plain" <sip:+61255501002@203.0.113.5>"#])
        let quiet = LookupResult(question("+61255501001", callInfo: false), gates: .init(), index: index)
        #expect(quiet.brand?.headers.count == 1)
    }

    @Test func `the card is a header line of its own where branding.card_link writes it`() {
        let cards = CardLinks(template: "https://cards.example/b/{brand_id}")
        var question = question("+61255501002")
        let off = LookupResult(question, gates: .init(), index: index, cards: cards).brand
        #expect(off?.cardURL == "https://cards.example/b/b-2" && off?.headers.count == 1)
        question.writesCardLink = true
        let lines = LookupResult(question, gates: .init(), index: index, cards: cards).brand?.headers
        #expect(lines?.last == "Call-Info: <https://cards.example/b/b-2>;purpose=info" && lines?.count == 2)
        question.keepsCarrierName = true
        #expect(LookupResult(question, gates: .init(), index: index, cards: cards).brand == nil)
    }

    @Test func `where the carrier's name stays, Call-Info alone is written, and without one nothing`() {
        var keeping = question("+61255501001")
        keeping.keepsCarrierName = true
        let result = LookupResult(keeping, gates: .init(), index: index)
        #expect(result.decision == "matched")
        #expect(result.brand?.headers.map { $0.prefix(10) } == ["Call-Info:"])
        keeping.number = "+61255501002"
        let plain = LookupResult(keeping, gates: .init(), index: index)
        #expect(plain.decision == "policy")
        #expect(plain.brand == nil)
    }

    @Test(arguments: [
        ("+61255509999", true, Verification.none, BrandingGates(), "no_match"),
        ("anonymous", true, .none, BrandingGates(), "number_unclear"),
        ("+61255501001", false, .none, BrandingGates(), "untrusted"),
        ("+61255501001", false, .passedA, BrandingGates(), "untrusted"),
        ("+61255501001", true, .failed, BrandingGates(), "failed_verification"),
        ("+61255501001", true, .none, BrandingGates(brandingEnabled: false), "gated:branding_disabled"),
    ])
    func `a brand that is not shown has its reason and no header`(
        number: String, trusted: Bool, verification: Verification, gates: BrandingGates, decision: String
    ) {
        let result = LookupResult(
            question(number, trusted: trusted, verification: verification), gates: gates, index: index)
        #expect(result.decision == decision)
        #expect(result.brand == nil)
    }
}
