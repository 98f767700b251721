// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Host
import Primitives
import Testing

@testable import GatewayOperator

/// Golden cards of the field cases of `CallStoryTextTests`.
@Suite("The card of a call for a support desk")
struct WhyCardTests {
    typealias Fixture = CallStoryTextTests

    static func card(
        _ call: LedgerCallRow, brand: PresentBrand? = Fixture.brand, picture: WhyCard.Picture? = nil,
        family: PhoneDisplay? = .snom, numbers: CardNumbers.Choice = .withoutCallee
    ) -> WhyCard {
        WhyCard(call, brand, picture: picture, family: family, numbers: numbers, zone: .utc)
    }

    /// The rows of a card, one a line, with each heading.
    static func rows(_ card: WhyCard) -> [String] {
        card.parts.flatMap { ["# \($0.title)"] + $0.rows.map { "\($0.name): \($0.value)" } }
    }

    private static let begin = [
        "# Call", "began: 2026-01-01 00:00:00 UTC", "call id: \(Fixture.id)", "SIP Call-ID: a84b4c76@carrier.example",
        "trunk: carrier", "end: MISSED, rang 12 s, SIP status 480",
    ]
    private static let received = [
        "# Received", "identity: caller +61255501001 from From",
        "trust: trusted trunk, attestation A in verstat of From, the trunk's word",
    ]
    private static let snom = [
        "phone: a phone rang; its model is not in the record", "family: snom 820, 870, D series",
    ]
    private static let source = "source: docs/phones.md, from the vendor's document; not run"

    @Test func `golden: a branded call that was missed, on snom`() {
        let card = Self.card(Fixture.call(), picture: WhyCard.Picture(named: "a-128x128.png", [1, 2, 3]))
        #expect(
            card.title
                == "Acme Bank rang the callee for 12 s and was not answered; the phone showed \"Acme Bank\"")
        #expect(
            card.phone
                == WhyCard.Phone(
                    title: "On the phone", name: "Acme Bank", callReason: "Your appointment", number: "+61255501001"))
        let written = [
            "# Written", "decoration: name written, Call-Info with the brand's logo and reason",
            "received: From: \"WIRELESS CALLER\" <…>", "sent: From: \"Acme Bank\" <…>",
            "sent: Call-Info: <https://logos.example/acme.png>;purpose=icon;call-reason=\"Your appointment\"",
        ]
        let decided = [
            "# Decided, and why", "decision: matched: The INVITE goes on with the brand.", "brand: Acme Bank (b-7)",
            "policy: policy standard: satisfied", "lookup: brand Acme Bank (b-7)", "gates: gates open",
        ]
        let phone =
            ["# On the phone"] + Self.snom + [
                "name: \"Acme Bank\", from P-Asserted-Identity, then From",
                "logo: shown if the phone reaches the URL and reads JPEG, PNG or BMP from an http URL",
                "reason: not shown: it arrives in Call-Info for applications, and no known phone reads it",
                "trust mark: no document of this family has one", Self.source,
            ]
        let gone = [
            "# Not in the record",
            "logo and reason: those of the brand now; the record has only that they were sent",
            "messages: the ledger keeps no SIP messages",
        ]
        let expected =
            Self.begin + Self.received + ["carrier's name: WIRELESS CALLER"] + decided + written + phone + gone
        #expect(Self.rows(card) == expected, "\(Self.rows(card).joined(separator: "\n"))")
    }

    @Test func `golden: a number without a brand, on Poly`() {
        let card = Self.card(Fixture.call(decision: "no_match"), brand: nil, family: .poly)
        #expect(card.title.hasPrefix("+61255501001 rang the callee for 12 s and was not answered; no brand, because"))
        let expected =
            Self.begin + Self.received + [
                "# Decided, and why", "decision: no_match: The directory has no brand for the number.",
                "remedy: Add +61255501001 at the directory, then run herald sync.",
                "policy: policy standard: satisfied", "lookup: no lookup", "gates: gates not asked", "# Written",
                "decoration: nothing written", "# On the phone", Self.snom[0], "family: Poly VVX, Edge",
                "name: the carrier's name if it sent one, from P-Asserted-Identity",
                "logo: not shown: no document of the vendor has one", "reason: not shown: none was sent",
                "trust mark: Trusted, Unknown or Spam, by the verstat that reaches the phone; the record does not keep it",
                Self.source, "# Not in the record",
                "name of the carrier: the ledger keeps only a name that was replaced",
                "messages: the ledger keeps no SIP messages",
            ]
        #expect(Self.rows(card) == expected, "\(Self.rows(card).joined(separator: "\n"))")
        #expect(card.picture == nil)
    }

    @Test(arguments: PassThroughReason.allCases)
    func `every call without a brand has decision, cause and remedy`(reason: PassThroughReason) throws {
        let call = Fixture.call(decision: reason.description)
        let missing = try #require(call.story.missing)
        let rows = Self.rows(Self.card(call, brand: nil))
        #expect(rows.contains("decision: \(reason): \(missing.cause.text { $0 })"), "\(rows)")
        #expect(rows.contains("remedy: \(missing.remedy.text { $0 })"))
        #expect(rows.contains { $0.hasPrefix("phone: ") })
    }

    @Test func `a withheld caller has no number on the card`() {
        let call = Fixture.call(decision: "privacy") { values, evidence in
            values["caller"] = .integer(nil)
            evidence.isWithheld = true
        }
        let card = Self.card(call, brand: nil, numbers: .all)
        #expect(card.title.hasPrefix("A withheld caller rang reception"))
        #expect(!WhyCardText(card: card).text.contains("501001"))
        #expect(Self.rows(card).contains("identity: the caller withholds the number"))
    }

    @Test func `evidence that has gone is named as gone, and not guessed`() {
        let removed = Self.rows(Self.card(Fixture.call(), brand: nil))
        #expect(
            removed.contains(
                "logo and reason: the brand has gone or is another one now; the record has that they were sent"))
        #expect(removed.contains("picture: no copy of the logo is stored"))
        #expect(removed.contains("sent: Call-Info: <…>;purpose=icon;call-reason=\"…\""))
        let unread = Fixture.call { values, _ in (values["call_id"], values["direction"]) = (.text("x"), .integer(9)) }
        #expect(
            Self.rows(Self.card(unread)).contains("record: no gateway of this version can read the whole row"))
        let open = Fixture.call { values, _ in
            for name in ["outcome", "ended_at", "status", "ring_seconds"] { values[name] = .integer(nil) }
        }
        #expect(Self.rows(Self.card(open)).contains("end: the call is still in progress"))
    }

    @Test func `the callee is masked in every spelling, and in full only if asked for`() {
        let call = Fixture.call { values, _ in
            values["subscriber"] = .text("0255502000")
            values["sip_call_id"] = .text("61255502000-77@carrier.example")
            values["carrier_name"] = .text("02 5550 2000")
            values["also_called"] = .text("+61255503000")
        }
        let card = Self.card(call)
        for text in [WhyCardText(card: card).text, WhyCardHTML(card: card).text] {
            let digits = text.filter(\.isNumber)
            #expect(!digits.contains("55502000") && !digits.contains("55503000"), "\(text)")
            #expect(text.contains("+61255501001"), "the brand's number stays")
        }
        let full = WhyCardText(card: Self.card(call, numbers: .all)).text
        #expect(full.contains("61255502000-77@carrier.example"))
        let masked = WhyCardText(card: Self.card(call, numbers: .masked)).text
        #expect(!masked.contains("255501001") && masked.contains("+61******001"))
    }

    @Test(arguments: [
        ("reception", "Reception-77@pbx.example", true), ("reception", "xreception9", true),
        ("1001", "a-1001@pbx", true),
        ("1001", "a510014@pbx", false), ("j.doe", "7-J.Doe@pbx", true),
    ])
    func `a Call-ID with the callee's name is hidden`(subscriber: String, callID: String, isHidden: Bool) {
        let call = Fixture.call { values, _ in
            (values["subscriber"], values["sip_call_id"]) = (.text(subscriber), .text(callID))
        }
        let row = "SIP Call-ID: " + (isHidden ? "hidden: it holds the callee's name" : callID)
        #expect(Self.rows(Self.card(call)).contains(row))
        #expect(Self.rows(Self.card(call, numbers: .all)).contains("SIP Call-ID: \(callID)"))
    }

    @Test func `hostile evidence is text in both forms, and the file loads nothing`() {
        let hostile = "\"\u{301}><script>alert(1)</script><img src=http://x.example/>\u{202E}\u{1B}[2J\u{0}"
        let call = Fixture.call { values, _ in
            for name in ["sip_call_id", "brand_name", "brand_id", "carrier_name", "subscriber", "trunk", "signer"] {
                values[name] = .text(hostile)
            }
        }
        var brand = Fixture.brand
        (brand.callReason, brand.logoURL, brand.logoValue, brand.reasonValue) = (hostile, hostile, hostile, hostile)
        let picture = WhyCard.Picture(named: "a-1x1.png", [1, 2, 3])
        for call in [call, Fixture.call(decision: "untrusted") { values, _ in values["trunk"] = .text(hostile) }] {
            let card = Self.card(call, brand: brand, picture: picture, family: nil, numbers: .all)
            let (html, text) = (WhyCardHTML(card: card).text, WhyCardText(card: card).text)
            for form in [html, text] {
                #expect(!form.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" || $0 == "\u{0}" })
            }
            #expect(!html.contains("<script") && !html.contains("<img src=http"))
            #expect(html.contains("&lt;script&gt;alert(1)"))
            #expect(!html.contains("src=\"http") && !html.contains("href="))
            for line in text.split(separator: "\n") { #expect(TerminalText.width(String(line)) <= 80, "\(line)") }
        }
    }

    @Test func `the logo is embedded only if it was sent and is stored`() {
        let picture = WhyCard.Picture(named: "a-1x1.jpg", [1, 2, 3])
        #expect(WhyCard.Picture(named: "a-1x1.svg", [1]) == nil && WhyCard.Picture(named: "a-1x1.png", nil) == nil)
        let sent = WhyCardHTML(card: Self.card(Fixture.call(), picture: picture)).text
        #expect(sent.contains("<img src=\"data:image/jpeg;base64,AQID\" alt=\"Logo\""))
        let leftOut = Fixture.call { $1.logo = .leftOut }
        #expect(!WhyCardHTML(card: Self.card(leftOut, picture: picture)).text.contains("<img"))
    }

    @Test(arguments: PhoneDisplay.allCases)
    func `each family has its statements with a source`(family: PhoneDisplay) {
        let rows = Self.rows(Self.card(Fixture.call(), family: family))
        #expect(rows.contains("family: \(family.title)"))
        #expect(rows.contains("source: docs/phones.md, from \(family.source)"))
        let all = Self.rows(Self.card(Fixture.call(), family: nil))
        #expect(all.contains { $0.hasPrefix("\(family.title): name: ") })
    }

    @Test func `an unknown family has the nearest name`() throws {
        #expect(try PhoneDisplay.read("snom") == .snom)
        let failure = #expect(throws: CommandFailure.self) { try PhoneDisplay.read("snoom\u{1B}") }
        #expect(failure.map { "\($0)".contains("the families are auerswald") && !"\($0)".contains("\u{1B}") } == true)
    }
}
