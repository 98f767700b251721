// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Host
import Primitives
import Testing

@testable import GatewayOperator

@Suite("The story of a call on a terminal")
struct CallStoryTextTests {
    static let id = CallIdentifier(high: 1, low: 2)
    private static let start: Int64 = 1_767_225_600_000_000  // 2026-01-01T00:00:00Z

    /// A call of a brand that rang `reception` for 12 s, and whose logo and reason were sent.
    static func call(
        decision: String = "matched",
        _ change: (inout [String: ColumnValue], inout DecisionEvidence) -> Void = { _, _ in }
    ) -> LedgerCallRow {
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isTrusted, evidence.policy) = (.from, true, .standard)
        (evidence.verification, evidence.source) = (.passedA, .from)
        if decision == "matched" {
            (evidence.lookup, evidence.isNamed, evidence.writesCallInfo) = (.brandFound, true, true)
            (evidence.logo, evidence.callReason) = (.written, .written)
        }
        let isMatched = decision == "matched"
        var values: [String: ColumnValue] = [
            "id": .integer(7), "call_id": .text("\(id)"), "sip_call_id": .text("a84b4c76@carrier.example"),
            "direction": .integer(1), "trunk": .text("carrier"), "caller": .integer(61_255_501_001),
            "destination": .integer(61_255_502_000), "subscriber": .text("reception"),
            "brand_id": .text(isMatched ? "b-7" : nil), "brand_name": .text(isMatched ? "Acme Bank" : nil),
            "carrier_name": .text(isMatched ? "WIRELESS CALLER" : nil), "decision": .text(decision),
            "invite_at": .integer(start), "ringing_at": .integer(start + 1_200_000),
            "ended_at": .integer(start + 13_200_000), "status": .integer(480), "attempts": .integer(1),
            "outcome": .text("MISSED"), "ring_seconds": .integer(12),
        ]
        change(&values, &evidence)
        values["evidence"] = .integer(Int64(evidence.rawValue))
        let event = LedgerEventRow(shared: [
            "key": .text("missed:\(id)"), "number": .text("+61255501001"), "displayed_at": .text(""),
            "meta": .text("{}"),
            "state": .integer(0), "attempts": .integer(0), "created_at": .integer(0), "due_at": .integer(0),
        ])
        return LedgerCallRow(shared: values, node: "", events: [event])
    }

    static let brand = PresentBrand(
        callReason: "Your appointment", logoURL: "https://logos.example/acme.png",
        logoValue: "<https://logos.example/acme.png>;purpose=icon", reasonValue: ";call-reason=\"Your appointment\"")

    private static func lines(_ call: LedgerCallRow, _ brand: PresentBrand? = nil) -> [String] {
        CallStoryText(call: call, brand: brand, zone: .fixed(3600, "CET")).text.split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
    }

    @Test(arguments: [true, false]) func `a call in shadow has the card that no phone showed`(isKept: Bool) throws {
        let call = Self.call(decision: "shadow") { values, evidence in
            values["brand_id"] = .text("b-7")
            values["brand_name"] = .text("Acme Bank")
            values["carrier_name"] = .text("WIRELESS CALLER")
            (evidence.isInShadow, evidence.lookup, evidence.isNamed) = (true, .brandFound, true)
            (evidence.writesCallInfo, evidence.logo, evidence.callReason) = (true, .written, .written)
        }
        let lines = Self.lines(call, isKept ? Self.brand : nil)
        #expect(lines[0].hasPrefix("+61255501001 rang reception for 12 s"), "\(lines)")
        #expect(lines.contains("Not shown (brands: shadow):"))
        #expect(lines.contains { $0.hasPrefix("  │ Acme Bank ") })
        #expect(
            lines.contains("  logo: \(isKept ? "https://logos.example/acme.png" : "one that the ledger does not keep")")
        )
        #expect(lines.contains("  do           Set brands: true to brand, then run herald reload."))
        #expect(lines.contains("  not written  Acme Bank") && !lines.joined().contains("sent, with"))
        #expect(!lines.contains { $0.contains("+ From:") } && call.written == nil)
    }

    @Test func `the address of the public card is below the logo, and in the changed lines`() throws {
        let call = Self.call { _, evidence in evidence.hasCardLink = true }
        var brand = Self.brand
        brand.cardURL = "https://cards.example/b/b-7"
        let lines = Self.lines(call, brand)
        let logo = try #require(lines.firstIndex(of: "  logo: https://logos.example/acme.png"))
        #expect(lines[logo + 1] == "  card: https://cards.example/b/b-7")
        #expect(lines.contains { $0.contains("+ Call-Info: <https://cards.example/b/b-7>;purpose=info") }, "\(lines)")
        let kept = Self.lines(call)
        #expect(kept.contains("  card: sent, with a URL that the ledger does not keep"), "\(kept)")
        #expect(kept.contains { $0.contains("+ Call-Info: <…>;purpose=info") })
        #expect(call.written == "name logo reason card")
    }

    private static func brandedLines() -> [String] {
        var call = call()
        call.link = "https://sbc.example/calls/\(id)"
        return lines(call, brand)
    }

    /// Lines of the ladder begin with the time; those of the steps beside it, with blanks.
    private static func ladder() -> (messages: [String], steps: [Substring]) {
        let step = String(repeating: " ", count: 15) + "│  "
        let lines = brandedLines().drop { !$0.contains("Herald") || !$0.contains("PBX") }.prefix { !$0.isEmpty }
        return (
            lines.filter { !$0.hasPrefix(step) },
            lines.filter { $0.hasPrefix(step) }.map { $0.dropFirst(step.count) }
        )
    }

    @Test func `it begins with the sentence and the card`() {
        let lines = Self.brandedLines()
        #expect(
            lines.prefix(11) == [
                "Acme Bank rang reception for 12 s and was not answered; the phone showed \"Acme",
                "Bank\"",
                "",
                "On the phone:",
                "  ┌──────────────────────────────┐",
                "  │ Acme Bank                    │",
                "  │ Your appointment             │",
                "  │ +61255501001                 │",
                "  └──────────────────────────────┘",
                "  logo: https://logos.example/acme.png",
                "  Logo and reason are those of the brand now. The ledger keeps only that they",
            ])
    }

    @Test func `the ladder has the messages between trunk, Herald and PBX`() {
        #expect(
            Self.ladder().messages == [
                "             trunk         Herald           PBX",
                "             carrier",
                "      0.000 s  │─ INVITE ────▶│─ INVITE ────▶│  INVITE with the brand",
                "      1.200 s  │◀─────── 180 ─│◀─────── 180 ─│  180, the phone rings",
                "     13.200 s  │◀─────── 480 ─│◀─────── 480 ─│  ended: MISSED, final status 480",
            ])
    }

    @Test func `evidence and changed header lines are beside the INVITE`() {
        let steps = Self.ladder().steps
        #expect(steps.first == "identity     caller +61255501001 from From")
        #expect(
            steps.suffix(4) == [
                "- From: \"WIRELESS CALLER\" <…>", "+ From: \"Acme Bank\" <…>",
                "+ Call-Info: <https://logos.example/acme.png>;purpose=icon", "  ;call-reason=\"Your appointment\"",
            ])
    }

    @Test func `events, times and identifiers follow, and no remedy`() {
        let lines = Self.brandedLines()
        #expect(lines.contains("  event missed: waiting"))
        #expect(lines.contains("  began        2026-01-01 01:00:00 CET (00:00:00 UTC)"))
        #expect(lines.contains("  SIP Call-ID  a84b4c76@carrier.example"))
        #expect(lines.contains("  page         https://sbc.example/calls/\(Self.id)"))
        #expect(!lines.contains { $0.hasPrefix("  why") || $0.contains("\u{1B}") })
    }

    @Test func `a call without a brand has the reason and the remedy`() {
        let lines = Self.lines(Self.call(decision: "no_match"))
        #expect(lines[0].hasPrefix("+61255501001 rang reception for 12 s and was not answered; no brand, because"))
        #expect(lines.contains("  why          The directory has no brand for the number."))
        #expect(lines.contains("  do           Add +61255501001 at the directory, then run herald sync."))
        #expect(lines.contains { $0.contains("INVITE unbranded: no_match") })
        #expect(!lines.contains { $0.contains("+ From") })
    }

    @Test func `the card has no more than was sent`() {
        let text = { (call: LedgerCallRow, brand: PresentBrand?) in
            CallStoryText(call: call, brand: brand, zone: .utc).text
        }
        let nameOnly = text(
            Self.call {
                ($1.logo, $1.callReason) = (.leftOut, .absent)
                $0["ringing_at"] = .integer(nil)
            }, Self.brand)
        #expect(nameOnly.contains("In the INVITE; no phone showed it:"))
        #expect(nameOnly.contains("left out: it did not fit into max_datagram"))
        #expect(!nameOnly.contains("Your appointment") && !nameOnly.contains("logos.example"))
        let another = text(Self.call(), nil)
        #expect(another.contains("The brand is another one now") && another.contains("+ Call-Info: <…>;purpose=icon"))
        let privacy = text(Self.call(decision: "privacy") { values, _ in values["caller"] = .integer(nil) }, nil)
        #expect(privacy.hasPrefix("A withheld caller rang") && privacy.contains("Nothing to do"))
        #expect(!privacy.contains("501001"))
    }

    @Test func `no hostile text controls the terminal, and no line but the link is longer than 80 columns`() {
        let hostile = "\u{1B}[2J\r\n\u{202E}名前\"<script>" + String(repeating: "ab:", count: 60)
        let call = Self.call { values, _ in
            for name in ["sip_call_id", "brand_name", "carrier_name", "subscriber", "trunk", "signer", "brand_id"] {
                values[name] = .text(hostile)
            }
            values["also_called"] = .text("- \(hostile.filter { $0 != "\n" && $0 != " " })")
        }
        var brand = Self.brand
        (brand.callReason, brand.logoURL, brand.logoValue) = (hostile, hostile, hostile)
        for call in [call, Self.call(decision: "untrusted") { values, _ in values["trunk"] = .text(hostile) }] {
            for line in Self.lines(call, brand) {
                #expect(TerminalText.width(line) <= 80, "\(line)")
                #expect(!line.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" }, "\(line.debugDescription)")
            }
        }
    }

    @Test func `JSON has the same story`() throws {
        let json = try Output.text(Self.call().storyJSON(Self.brand))
        for part in [
            "\"title\":\"Acme Bank rang reception for 12 s and was not answered; the phone showed \\\"Acme Bank\\\"\"",
            "\"reason\":\"Your appointment\"", "\"added\":[\"From: \\\"Acme Bank\\\" <…>\",\"Call-Info: <https://logos",
            "\"removed\":[\"From: \\\"WIRELESS CALLER\\\" <…>\"]", "\"message\":\"180\"", "\"trunk\":\"to_trunk\"",
            "\"step\":\"identity\"",
        ] {
            #expect(json.contains(part), "\(part)\n\(json)")
        }
        let unknown = try Output.text(Self.call(decision: "stale").storyJSON(nil))
        #expect(unknown.contains("\"remedy\":\"Find out why syncs fail") && unknown.contains("\"added\":[]"))
    }
}
