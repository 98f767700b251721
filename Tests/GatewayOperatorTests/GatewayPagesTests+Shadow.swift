// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import Testing

@testable import GatewayOperator

// The page of calls in shadow, and the way to it.
extension GatewayPagesTests {
    private static let week = ShadowCounts(kinds: [
        .init(
            trunk: "carrier", decision: "shadow", brand: "Acme & Bank", customer: "acme",
            sums: CallSums(calls: 60, reached: 50, answered: 25, talks: 25, talkSeconds: 500)),
        .init(
            trunk: "second", decision: "shadow", brand: "Acme & Bank", customer: "acme",
            sums: CallSums(calls: 20, reached: 20, answered: 10, talks: 10, talkSeconds: 200)),
        .init(trunk: "carrier", decision: "no_match", sums: CallSums(calls: 15, reached: 10, answered: 5)),
        .init(trunk: "carrier", decision: "shadow", sums: CallSums(calls: 5)),
    ])

    private func content(_ counts: ShadowCounts = Self.week, names: [String] = ["trunk carrier"]) -> FixedPages.Content
    {
        var content = FixedPages.Content()
        (content.shadow, content.namesInShadow) = (counts, names)
        return content
    }

    /// The texts of the cells of a row, which a text names.
    private static func row(_ page: String, _ name: String) throws -> [String] {
        let row = try #require(page.components(separatedBy: "<tr>").first { $0.contains(">\(name)<") }, "\(name)")
        return row.components(separatedBy: "</td>").dropLast().map {
            $0.replacing(#/<[^>]*>/#, with: "").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func `the page has shares, brands with their answered share, and reasons of the rest`() async throws {
        try await run(FixedPages(content())) { person in
            let page = try await person.get("/shadow?span=7d").body
            #expect(
                page.contains(
                    "<p>Trunk carrier is in shadow (brands: shadow): none of its calls is branded; set brands: true to brand."
                ))
            #expect(page.contains("<strong>85</strong> of <strong>100</strong> ended calls in shadow"))
            #expect(page.contains("<strong>85 %</strong>"))
            #expect(
                try Self.row(page, "Acme &amp; Bank") == ["Acme &amp; Bank, acme", "80", "80 %", "70", "50 %", "20 s"])
            #expect(
                try Self.row(page, "Values of a signature") == ["Values of a signature", "5", "5 %", "0", "–", "–"])
            #expect(
                try Self.row(page, "no_match") == [
                    "no_match The directory has no brand for the number.", "15", "15 %", "10", "5 of 10",
                ])
            #expect(try Self.row(page, "carrier") == ["carrier", "80", "81 %", "50 %"])
            #expect(try Self.row(page, "second") == ["second", "20", "100 %", "10 of 20"])
            #expect(page.contains("/calls?decision=shadow&amp;brand=Acme%20%26%20Bank&amp;customer=acme&amp;since="))
            // No filter finds the calls of another row alone: others have the same reason or trunk, and are not in shadow.
            #expect(!page.contains("decision=no_match") && !page.contains("trunk=carrier"))
            #expect(page.components(separatedBy: "decision=shadow").count == 2)
            #expect(page.contains("<strong>Last 7 days</strong>") && page.contains("href=\"/shadow?span=24h\""))
        }
    }

    @Test func `without calls the page has a sentence`() async throws {
        try await run(FixedPages(content(ShadowCounts(), names: ["trunk a", "trunk b", "route c"]))) { person in
            let page = try await person.get("/shadow").body
            #expect(page.contains("Trunk a, trunk b and route c are in shadow (brands: shadow)"))
            #expect(page.contains("<strong>0</strong> of <strong>0</strong>") && !page.contains("<table>"))
        }
    }

    @Test(arguments: [true, false]) func `the pages lead to it while something is in shadow`(isInShadow: Bool)
        async throws
    {
        let names = isInShadow ? ["trunk carrier"] : []
        let status = FixedStatus()
        status.change { $0.shadow = isInShadow ? names : nil }
        try await run(FixedPages(content(names: names), status: status)) { person in
            let first = try await person.get("/").body
            #expect(first.contains("href=\"/shadow\"") == isInShadow)
            #expect(first.contains("href=\"/shadow?span=24h\">What would have been branded</a>") == isInShadow)
            // The result of a trial stays after it.
            #expect(try await person.get("/shadow?span=7d").body.contains("<strong>85</strong>"))
        }
    }

    @Test func `a hostile brand is no markup, and a broken ledger is a page`() async throws {
        let hostile = "\"><script>alert(1)</script>"
        let counts = ShadowCounts(kinds: [
            .init(trunk: hostile, decision: "shadow", brand: hostile, customer: hostile, sums: CallSums(calls: 1)),
            .init(trunk: hostile, decision: hostile, sums: CallSums(calls: 1)),
        ])
        try await run(FixedPages(content(counts))) { person in
            let page = try await person.get("/shadow")
            #expect(page.status == 200 && !page.body.contains("<script>alert"))
            #expect(page.body.contains("&quot;&gt;&lt;script&gt;"))
        }
        var broken = content()
        broken.ledgerProblem = FixedPages.LedgerRefusal(description: "disk I/O error")
        try await run(FixedPages(broken)) { person in
            let page = try await person.get("/shadow")
            #expect(page.status == 503 && page.body.contains("The ledger cannot be read: disk I/O error"))
        }
    }

    @Test func `the page of alarms masks numbers and shows hostile names as text`() async throws {
        let hostile = "<script>\u{202E}"
        let source = FixedPages()
        let alarm = SpoofingAlarm(
            kind: .provider, brand: hostile, brandID: nil, customer: nil, day: 20_000, calls: 9, threshold: 5,
            firstAt: 0, lastAt: 1, numbers: ["+61255501001"], findings: [.init(name: hostile, calls: 9)],
            usual: ["123A"], examples: ["00000000-0000-0009-0000-000000000007"])
        try await run(source) { person in
            #expect(try await person.get("/alarms").body.contains("No alarm."))
            source.alarms.read([alarm], at: FixedPages.now)
            let page = try await person.get("/alarms").body
            #expect(page.contains("9 calls signed by a provider that is new to the brand: &lt;script&gt;"), "\(page)")
            #expect(!page.contains("<script>\\u") && !page.contains("255501001") && page.contains("+61******001"))
            #expect(page.contains("href=\"/calls/00000000-0000-0009-0000-000000000007\""))
            #expect(try await person.get("/").body.contains("href=\"/alarms\""))
        }
    }
}
