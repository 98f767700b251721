// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import Testing

@testable import GatewayOperator

// The first page: the calls of a day or a week, then peers and the rest.
extension GatewayPagesTests {
    private static let hour = FixedPages.now / 3600

    private static func kind(
        _ decision: String, _ sums: CallSums, trunk: String = "carrier", outcome: String? = "MISSED",
        isInbound: Bool = true
    ) -> HourCounts.Kind {
        .init(hour: hour, isInbound: isInbound, trunk: trunk, decision: decision, outcome: outcome, sums: sums)
    }

    /// The texts of the cells of a row, which the text of its first cell names.
    private static func cells(_ page: String, _ name: String) throws -> [String] {
        let row = try #require(
            page.components(separatedBy: "<tr>").first { $0.contains(">\(name)<") && $0.contains("<td") }, "\(name)")
        return row.components(separatedBy: "</td>").dropLast().map { cell in
            cell.replacing(#/<[^>]*>/#, with: "").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func `branding comes first, the running time last`() async throws {
        var content = FixedPages.Content()
        content.hours = HourCounts(
            kinds: [
                Self.kind("matched", CallSums(calls: 80, reached: 70, answered: 56, talks: 56, talkSeconds: 5_600)),
                Self.kind("no_match", CallSums(calls: 90, reached: 80, answered: 48, talks: 48, talkSeconds: 480)),
                Self.kind("outbound", CallSums(calls: 4), isInbound: false),
            ],
            brands: [.init(name: "Acme & Bank", customer: "acme", sums: CallSums(calls: 80, reached: 70, answered: 56))]
        )
        let status = FixedStatus()
        status.change {
            $0.trunks = [
                .init(name: "carrier", pbx: "office", calls: 2), .init(name: "second", pbx: "office", calls: 0),
            ]
            $0.targets = [
                .init(
                    group: "pbx office", address: "192.0.2.20:5060", state: "up", takesCalls: true, calls: 3,
                    callsSent: 1_234)
            ]
        }
        try await run(FixedPages(content, status: status)) { person in
            let page = try await person.get("/").body
            let order = [
                "Ready for calls.", "calls from trunks", "more often by 20 points", "Brands with the most calls",
                "Rejected senders",
                "<caption>Trunks", "<caption>Targets", "Calls a second", "Outcomes of calls", "Numbers with a brand",
                "Running for",
            ].map { text in page.range(of: text)?.lowerBound }
            #expect(order.allSatisfy { $0 != nil } && order.compactMap(\.self) == order.compactMap(\.self).sorted())
            #expect(try Self.cells(page, "matched") == ["matched", "80", "47 %", "80 %"])
            #expect(try Self.cells(page, "Acme &amp; Bank") == ["Acme &amp; Bank, acme", "80", "70", "80 %", "–"])
            #expect(
                page.contains("/calls?brand=Acme%20%26%20Bank&amp;customer=acme&amp;since=2023-11-13T23%3A00%3A00Z"))
            #expect(try Self.cells(page, "carrier") == ["carrier", "office", "2", "170", "47 %", "4"])
            #expect(try Self.cells(page, "second") == ["second", "office", "0", "0", "–", "0"])
            #expect(
                try Self.cells(page, "pbx office").dropLast(2) == ["pbx office", "192.0.2.20:5060", "up", "3", "1,234"])
            #expect(page.contains("<strong>170</strong> calls from trunks, <strong>47 % branded</strong>"))
        }
    }

    @Test func `one call, one number and one address are not written as several`() async throws {
        var content = FixedPages.Content()
        content.hours = HourCounts(kinds: [Self.kind("matched", CallSums(calls: 1))])
        let status = FixedStatus()
        status.change { $0.trust = .init(signers: 1_200, unknownAddresses: 1, calls: ["passed_a": 2]) }
        try await run(FixedPages(content, status: status)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("<strong>1</strong> call from a trunk, <strong>100 % branded</strong>"))
            #expect(page.contains("<dd>1,200</dd><dd class=\"small\">1 address without a certificate</dd>"))
            #expect(page.contains("<dd class=\"small\">2 passed_a since the start</dd>"))
        }
    }

    @Test func `a page without calls has plots with axes, and says that there are none`() async throws {
        try await run(FixedPages()) { person in
            for path in ["/", "/?span=7d"] {
                let page = try await person.get(path)
                #expect(page.status == 200 && page.body.contains("<strong>0</strong> calls from trunks"))
                #expect(
                    page.body.contains("No call has reached a phone yet.") && page.body.contains("No branded calls."))
                #expect(page.body.components(separatedBy: "<svg").count >= 5 && !page.body.contains("<rect"))
            }
        }
    }

    @Test(arguments: [
        ("/", "24h"), ("/?span=24h", "24h"), ("/?span=7d", "7d"), ("/?span=%3Cscript%3E", "24h"), ("/?span=", "24h"),
    ])
    func `the address has the time that is counted, and so have the parts that are renewed`(
        path: String, span: String
    ) async throws {
        try await run(FixedPages()) { person in
            let page = try await person.get(path).body
            #expect(page.contains("data-live=\"/live?span=\(span)\""))
            #expect(page.contains("<strong>Last \(span == "7d" ? "7 days" : "24 hours")</strong>"))
        }
    }

    @Test func `a ledger that cannot be read is named, and the rest of the page is there`() async throws {
        var content = FixedPages.Content()
        content.ledgerProblem = FixedPages.LedgerRefusal(description: "no herald.sqlite")
        let status = FixedStatus()
        status.change { $0.trunks = [.init(name: "carrier", pbx: "office", calls: 2)] }
        try await run(FixedPages(content, status: status)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("The ledger cannot be read: no herald.sqlite"))
            #expect(try Self.cells(page, "carrier") == ["carrier", "office", "2", "–", "–", "–"])
        }
    }

    @Test func `calls of a trunk that was removed keep their row`() async throws {
        var content = FixedPages.Content()
        content.hours = HourCounts(kinds: [Self.kind("no_match", CallSums(calls: 5), trunk: "old \"one\"")])
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/").body
            #expect(try Self.cells(page, "old &quot;one&quot;")[1...3] == ["not configured now", "–", "5"])
            #expect(page.contains("/calls?trunk=old%20%22one%22&amp;since="))
        }
    }

    @Test func `of many rejected senders the last are shown, and the others counted`() async throws {
        let status = FixedStatus()
        status.change {
            $0.rejected = (1...12).map { number in
                .init(
                    address: "192.0.2.\(number)", transport: "udp", peer: nil, method: "INVITE", status: 403,
                    cause: "unknown",
                    count: 1, first: 0, last: 0)
            }
        }
        try await run(FixedPages(FixedPages.Content(), status: status)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("192.0.2.8 (udp)") && !page.contains("192.0.2.9 (udp)"))
            #expect(page.contains("4 more senders were rejected before."))
        }
    }

    /// The Content-Security-Policy refuses styles and scripts inside a page.
    @Test func `no element of the first page has a style or a script of its own`() async throws {
        var content = FixedPages.Content()
        content.hours = HourCounts(kinds: [Self.kind("matched", CallSums(calls: 8, reached: 7, answered: 5))])
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("<rect") && page.contains("<details id=\"decisions-table\">"))
            #expect(page.firstMatch(of: #/<[^>]*\s(style|on[a-z]+)=/#) == nil)
            // The table has the links of the bars, for keyboards and screen readers.
            let bars = page.matches(of: #/<a href="([^"]*)" tabindex="-1">/#).map { $0.1 }
            #expect(!bars.isEmpty)
            for path in bars { #expect(page.contains("<a href=\"\(path)\">"), "\(path)") }
        }
    }
}
