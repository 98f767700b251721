// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Testing

@testable import GatewayOperator

// The page of one call, as a person reads it.

extension GatewayPagesTests {
    private static func content(
        _ call: LedgerCallRow, brand: PresentBrand? = CallStoryTextTests.brand, pagesURL: String? = nil
    ) -> FixedPages {
        var content = FixedPages.Content()
        (content.call, content.brand, content.pagesURL) = (call, brand, pagesURL)
        content.logos = ["acme-128x128.png": [1]]
        return FixedPages(content)
    }

    /// The text of a page without markup, one blank between words.
    private static func read(_ html: String) -> String {
        let main = html.split(separator: "<main").last.map(String.init) ?? html
        return main.replacing(/<[^>]*>/, with: " ").replacing("&quot;", with: "\"").replacing("&lt;", with: "<")
            .replacing("&gt;", with: ">").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Reads the page of a branded call whose brand has a copy of its logo, with and without markup.
    private func readStory(_ body: @escaping @Sendable (_ html: String, _ page: String) throws -> Void) async throws {
        var brand = CallStoryTextTests.brand
        brand.copy = "acme-128x128.png"
        try await run(Self.content(CallStoryTextTests.call(), brand: brand), numbers: .full) { person in
            let html = try await person.get("/calls/7").body
            try body(html, Self.read(html))
        }
    }

    @Test func `the title of a call's page is its sentence`() async throws {
        try await readStory { html, _ in
            let sentence =
                "Acme Bank rang reception for 12 s and was not answered; the phone showed &quot;Acme Bank&quot;"
            #expect(html.contains("<h1>\(sentence)</h1>"))
            #expect(html.contains("<title>\(sentence) · "))
        }
    }

    @Test func `the card is what the phone got`() async throws {
        try await readStory { html, page in
            #expect(html.contains("<img class=\"logo\" src=\"/logos/acme-128x128.png\" alt=\"Logo of Acme Bank\""))
            let card = "On the phone Acme Bank Your appointment +61255501001 Logo: https://logos.example/acme.png"
            #expect(page.contains(card), "\(page)")
        }
    }

    @Test func `the ladder has times, messages, evidence and the changed header lines`() async throws {
        try await readStory { html, page in
            for part in [
                "0.000 s 00:00:00 INVITE from trunk to Herald INVITE from Herald to PBX INVITE with the brand",
                "identity caller +61255501001 from From", "- From: \"WIRELESS CALLER\" <…>",
                "+ From: \"Acme Bank\" <…>",
                "+ Call-Info: <https://logos.example/acme.png>;purpose=icon;call-reason=\"Your appointment\"",
                "1.200 s 00:00:01 180 from Herald to trunk 180 from PBX to Herald 180, the phone rings",
                "13.200 s 00:00:13 480 from Herald to trunk 480 from PBX to Herald ended: MISSED, final status 480",
            ] {
                #expect(page.contains(part), "\(part)\n\(page)")
            }
            let classes = html.matches(of: /class="leg (\w*)"/).map { String($0.1) }
            #expect(classes == ["toPBX", "toPBX", "toTrunk", "toTrunk", "toTrunk", "toTrunk"])
        }
    }

    @Test func `a branded call has decision, events and identifiers, and no remedy`() async throws {
        try await readStory { html, page in
            for part in [
                "Decision matched The INVITE goes on with the brand.", "Event State missed waiting",
                "SIP Call-ID a84b4c76@carrier.example",
            ] {
                #expect(page.contains(part), "\(part)\n\(page)")
            }
            #expect(!page.contains("what to do"))
            #expect(!html.contains("<script>"))
        }
    }

    @Test(arguments: PassThroughReason.allCases)
    func `the page of a call without a brand has cause and remedy`(reason: PassThroughReason) async throws {
        let call = CallStoryTextTests.call(decision: reason.description)
        let missing = try #require(call.story.missing)
        try await run(Self.content(call, brand: nil), numbers: .full) { person in
            let page = Self.read(try await person.get("/calls/7").body)
            let found =
                "Why no brand, and what to do \(reason) \(missing.cause.text { $0 }) \(missing.remedy.text { $0 })"
            #expect(page.contains(found), "\(found)\n\(page)")
        }
    }

    @Test func `a person without the right sees masked numbers in every part`() async throws {
        for decision in ["matched", "no_match"] {
            let call = CallStoryTextTests.call(decision: decision) { values, _ in
                values["carrier_name"] = .text(decision == "matched" ? "0255501001" : nil)
                values["subscriber"] = .text("0255502000")
            }
            try await run(Self.content(call)) { person in
                let page = try await person.get("/calls/7").body
                #expect(!page.contains("255501001") && !page.contains("255502000"), "\(page)")
                #expect(page.contains("+61******001"))
            }
        }
        let withheld = CallStoryTextTests.call(decision: "privacy") { values, evidence in
            values["caller"] = .integer(nil)
            evidence.isWithheld = true
        }
        try await run(Self.content(withheld), numbers: .full) { person in
            let page = try await person.get("/calls/7").body
            #expect(page.contains("<h1>A withheld caller rang reception") && !page.contains("501001"))
        }
    }

    @Test func `a call has a permanent link, and a wrong one is explained`() async throws {
        let id = CallStoryTextTests.id
        let source = Self.content(CallStoryTextTests.call(), pagesURL: "https://sbc.example")
        try await run(source) { person in
            let page = try await person.get("/calls/\(id)")
            #expect(page.status == 200, "\(page.body)")
            #expect(page.body.contains("<a href=\"/calls/\(id)\">https://sbc.example/calls/\(id)</a>"), "\(page.body)")
            for path in ["999", "00000000-0000-0009-0000-000000000009", "nobody", "%3Cscript%3E", "-1"] {
                let unknown = try await person.get("/calls/\(path)")
                #expect(unknown.status == 404 && unknown.body.contains("no such call"), "\(path)")
                #expect(!unknown.body.contains("<script>"))
            }
        }
        try await run(Self.content(CallStoryTextTests.call())) { person in
            let page = try await person.get("/calls/7").body
            #expect(page.contains("<a href=\"/calls/\(id)\">/calls/\(id)</a>"), "without an address for people")
        }
    }

    @Test func `hostile names, headers and reasons are text in every part of the story`() async throws {
        let hostile = "\"\u{301}><script>alert(1)</script>\u{202E}\u{1B}[2J{{name}}"
        let call = CallStoryTextTests.call { values, _ in
            for name in ["sip_call_id", "brand_name", "brand_id", "carrier_name", "subscriber", "trunk", "customer"] {
                values[name] = .text(hostile)
            }
        }
        let brand = PresentBrand(
            callReason: hostile, logoURL: hostile, logoValue: hostile, reasonValue: hostile, copy: hostile)
        for call in [
            call, CallStoryTextTests.call(decision: "untrusted") { values, _ in values["trunk"] = .text(hostile) },
        ] {
            try await run(Self.content(call, brand: brand), numbers: .full) { person in
                let page = try await person.get("/calls/7").body
                #expect(!page.contains("<script>") && page.contains("&lt;script&gt;alert(1)"), "\(page)")
                #expect(!page.unicodeScalars.contains("\u{202E}") && !page.unicodeScalars.contains("\u{1B}"))
                #expect(page.contains("{{name}}"), "a text is no template")
            }
        }
    }

    @Test func `the card of a call is a file without script, masked as the session is`() async throws {
        var brand = CallStoryTextTests.brand
        brand.copy = "acme-128x128.png"
        try await run(Self.content(CallStoryTextTests.call(), brand: brand)) { person in
            #expect(try await person.get("/calls/7").body.contains("action=\"/calls/7/card\""))
            let card = try await person.get("/calls/7/card?phone=snom&callee=1")
            #expect(card.status == 200 && card.body.contains("data:image/png;base64,AQ=="), "\(card.body)")
            #expect(!card.body.contains("<script") && !card.body.contains("255501001"), "\(card.body)")
            let text = try await person.get("/calls/7/card?form=text").body
            #expect(text.hasPrefix("Acme Bank rang the callee"), "\(text)")
            #expect(try await person.get("/calls/7/card?phone=nokia").status == 400)
            #expect(try await person.get("/calls/9/card").status == 404)
        }
        try await run(Self.content(CallStoryTextTests.call(), brand: brand), numbers: .full) { person in
            let card = try await person.get("/calls/7/card").body
            #expect(card.contains("+61255501001") && !card.contains("reception"), "the callee stays masked")
            #expect(try await person.get("/calls/7/card?callee=1").body.contains("rang reception"))
        }
    }

    @Test func `a call of the PBX and one of an earlier version have their story too`() async throws {
        let outbound = CallStoryTextTests.call(decision: "outbound") { values, _ in values["direction"] = .integer(2) }
        try await run(Self.content(outbound), numbers: .full) { person in
            let html = try await person.get("/calls/7").body
            #expect(
                html.contains("<h1>reception rang +61255502000 for 12 s and was not answered; the call left by trunk"))
            #expect(!html.contains("On the phone") && html.contains("The call came from the PBX."))
            #expect(html.matches(of: /class="leg (\w*)"/).first.map { String($0.1) } == "toTrunk")
        }
        let old = CallStoryTextTests.call { values, _ in
            (values["call_id"], values["direction"]) = (.text("x"), .integer(9))
        }
        try await run(Self.content(old), numbers: .full) { person in
            let page = try await person.get("/calls/7")
            #expect(page.status == 200 && !page.body.contains("Permanent link"), "a row that no gateway wrote")
        }
    }
}
