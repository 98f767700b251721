// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import Primitives
import Testing

@testable import GatewayOperator

// The list of calls: its filter, its times, and its exports.

extension GatewayPagesTests {
    private static let week: Int64 = 7 * 86_400
    private static let now: Int64 = 1_700_000_000  // 2023-11-14T22:13:20Z

    @Test func `the search has its fields and its times, and older calls have a link`() async throws {
        var content = FixedPages.Content()
        content.older = [99: CallSearch(calls: Array(repeating: Self.call(.withheld), count: 50), rest: nil)]
        let source = FixedPages(content)
        try await run(source) { person in
            let page = try await person.get(
                "/calls?number=%2B61+2&name=a%26b&brand=Acme&call_id=c&trunk=carrier&outcome=BUSY&decision=unbranded"
                    + "&reason=no_match&since=2023-11-01T10:30&until=2023-11-02&before=99")
            #expect(page.status == 200, "\(page.body)")
            #expect(page.body.contains("value=\"+61 2\"") && page.body.contains("value=\"a&amp;b\""))
            #expect(page.body.contains("decision=unbranded&amp;reason=no_match&amp;outcome=BUSY&amp;brand=Acme&amp;"))
            #expect(page.body.contains("number=%2B61%202&amp;name=a%26b&amp;"), "the link keeps the search")
            #expect(page.body.contains("&amp;before=7\""))
            #expect(page.body.contains("<option value=\"busy\" selected>"))
            #expect(page.body.contains("<option value=\"no_match\" selected>"))
            _ = try await person.get("/calls")
        }
        var search = CallFilter()
        search.setNumber(asWritten: "+61 2")
        search.name = "a&b"
        search.brand = "Acme"
        search.callIDPart = "c"
        search.trunk = "carrier"
        search.outcome = "BUSY"
        search.decisions = ["no_match"]
        search.since = 1_698_834_600
        search.until = 1_698_969_599
        search.before = 99
        #expect(source.searches.first == search)
        var usual = CallFilter()
        usual.since = Self.now - Self.week
        #expect(source.searches.last == usual)
    }

    @Test func `a search until a time begins a week before it`() async throws {
        let source = FixedPages()
        try await run(source) { person in _ = try await person.get("/calls?until=2023-01-31T12:00:00Z") }
        #expect(source.searches.first?.since == 1_675_166_400 - Self.week)
    }

    @Test(arguments: [
        ("since=yesterdya", "Since &quot;yesterdya&quot; is no time; did you mean &quot;yesterday&quot;?"),
        ("until=2023-13-45", "Until &quot;2023-13-45&quot; is no time"),
        ("outcome=LOST", "Outcome &quot;LOST&quot; is unknown"),
        ("decision=brandet", "did you mean &quot;branded&quot;?"),
        ("reason=untrustd", "did you mean &quot;untrusted&quot;?"),
        ("since=1h&until=2h", "Until &quot;2h&quot; ends before"),
        ("call_id=" + String(repeating: "x", count: 257), "is longer than 256 bytes"),
    ])
    func `a wrong search names the value and what is accepted`(query: String, problem: String) async throws {
        let source = FixedPages()
        try await run(source) { person in
            let page = try await person.get("/calls?" + query)
            #expect(page.status == 400 && page.body.contains(problem), "\(page.body)")
            #expect(!page.body.contains("<table>") && !page.body.contains("/calls.csv"), "nothing was searched")
            #expect(try await person.get("/calls.csv?" + query).status == 400)
        }
        #expect(source.searches.isEmpty)
    }

    @Test(arguments: [
        "before=-9223372036854775808", "before=9223372036854775807", "before=9223372036854775808", "before=%00",
        "since=%", "since=%E2%80%AE1h", "trunk=%27%3B+DROP+TABLE+call%3B+--", "number=%25", "decision=%3Cscript%3E",
        "&&==&=",
        "since=1h&since=2h", "name=" + String(repeating: "%F0%9F%98%80", count: 63), "until=99999999999999999999d",
    ])
    func `a hostile query is searched or refused, and is no markup`(query: String) async throws {
        try await run(FixedPages()) { person in
            for path in ["/calls?", "/calls.csv?", "/calls.jsonl?"] {
                let page = try await person.get(path + query)
                #expect([200, 400].contains(page.status), "\(path)\(query): \(page.status)")
                #expect(!page.body.contains("<script>") && !page.body.unicodeScalars.contains("\u{202E}"))
            }
        }
    }

    @Test func `a decision leads to its calls within the search, and a phone sees the chosen fields`() async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.withheld)]
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/calls?trunk=carrier&reason=privacy&call_id=a%20b").body
            #expect(
                page.contains(
                    "<a class=\"tag soft\" href=\"/calls?decision=privacy&amp;trunk=carrier&amp;call_id=a%20b\">privacy</a>"
                ))
            #expect(page.contains("<summary>Search <span class=\"detail\">by reason, trunk, Call-ID</span></summary>"))
            #expect(page.contains("<details class=\"filter\">"))
            #expect(try await person.get("/calls").body.contains("<summary>Search</summary>"))
            #expect(try await person.get("/calls?since=x").body.contains("<details class=\"filter\" open>"))
        }
    }

    @Test func `an unknown trunk has a suggestion, and one that was removed is still found`() async throws {
        try await run(FixedPages()) { person in
            let page = try await person.get("/calls?trunk=carier")
            #expect(page.status == 400 && page.body.contains("did you mean &quot;carrier&quot;?"))
        }
        var content = FixedPages.Content()
        content.calls = [Self.call(.withheld)]
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/calls?trunk=old")
            #expect(page.status == 200 && page.body.contains("old (no trunk now)</option>"))
        }
    }

    @Test func `times are local with UTC beside, and a search reads local times`() async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.withheld)]
        content.call = content.calls[0]
        let source = FixedPages(content)
        try await run(source, zone: .fixed(-18_000, "EST")) { person in
            let page = try await person.get("/calls?since=2023-11-14+17:00").body
            #expect(page.contains(">2023-11-14 17:13:20 EST</a> <span class=\"detail\">22:13:20 UTC</span>"), "\(page)")
            #expect(page.contains("since 2023-11-14 17:00:00 EST (22:00:00 UTC)") && page.contains("times in EST"))
            let call = try await person.get("/calls/7").body
            #expect(call.contains("2023-11-14 17:13:20 EST (22:13:20 UTC)"), "\(call)")
            #expect(call.contains("<span>3.000 s</span> <span class=\"detail\">17:13:23</span>"), "\(call)")
        }
        #expect(source.searches.first?.since == 1_699_999_200)
        try await run(source) { person in
            let page = try await person.get("/calls").body
            #expect(page.contains(">2023-11-14 22:13:20 UTC</a></span>"), "\(page)")
        }
    }

    @Test func `a search that took long names its begin and goes on with older calls`() async throws {
        var content = FixedPages.Content()
        content.rest = CallSearch.Rest(before: 1_234, readSince: 1_699_990_000)
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/calls?reason=emergency")
            #expect(page.status == 200 && page.body.contains("has read the calls since 2023-11-14 19:26:40 UTC"))
            #expect(page.body.contains("href=\"/calls?reason=emergency&amp;before=1234\" rel=\"next\""), "\(page.body)")
        }
    }

    @Test func `an export has the calls of the search, also those behind the first page`() async throws {
        var content = FixedPages.Content()
        content.calls = (0..<Int64(CallExport.page)).map { Self.call(.number(61_255_501_001), row: 2_000 - $0) }
        let last = 2_000 - Int64(CallExport.page) + 1
        let rest = CallSearch.Rest(before: 900, readSince: 0)
        content.older = [
            // Found nothing in its time, and goes on.
            last: CallSearch(rest: rest), 900: CallSearch(calls: [Self.call(.withheld, row: 3)]),
        ]
        let source = FixedPages(content)
        try await run(source, numbers: .full) { person in
            let page = try await person.get("/calls.jsonl?decision=branded&since=1h")
            #expect(page.status == 200 && page.type == "application/x-ndjson", "\(page.type)")
            #expect(page.body.split(separator: "\n").count == CallExport.page + 1)
        }
        #expect(source.searches.map(\.before) == [nil, last, 900])
        #expect(source.searches.allSatisfy { $0.since == Self.now - 3600 && $0.decisions == ["matched"] })
    }

    @Test func `an export masks numbers until the session shows them, and no cell is a formula`() async throws {
        var content = FixedPages.Content()
        content.calls = [
            Self.call(.number(61_255_501_001), text: "=HYPERLINK(\"http://evil.example\"),\"x\"\r\n@SUM(A1)"),
            Self.call(.unclear("0491570156"), text: "\t=1"),
        ]
        try await run(FixedPages(content)) { person in
            let masked = try await person.get("/calls.csv")
            #expect(masked.type == "text/csv; charset=utf-8; header=present")
            #expect(masked.body.contains("+61******001") && !masked.body.contains("61255501001"))
            #expect(!masked.body.contains("0491570156"))
            #expect(masked.body.hasPrefix("call_id,sip_call_id,"))
            #expect(masked.body.contains("\"'=HYPERLINK(\"\"http://evil.example\"\"),\"\"x\"\"\\u{d}\\u{a}@SUM(A1)\""))
            #expect(!masked.body.contains(",=") && !masked.body.contains("\t"))
            #expect(masked.body.split(separator: "\r\n").count == 3)
            let json = try await person.get("/calls.jsonl")
            #expect(!json.body.contains("61255501001") && json.body.contains("missed"), "\(json.body)")

            let cookie = try await person.cookie()
            let token = try await person.token(cookie)
            _ = try await person.post("/numbers", "token=\(token)&here=%2Fcalls", cookie)
            #expect(try await person.get("/calls.csv", cookie).body.contains("+61255501001"))
        }
    }

    @Test func `a name and a signer that hold a number are masked too`() async throws {
        let values: [String: ColumnValue] = [
            "id": .integer(7), "call_id": .text("\(CallIdentifier(high: 0, low: 7))"), "direction": .integer(1),
            "caller": .integer(61_255_501_001), "decision": .text("signed_name"), "trust": .integer(3),
            "brand_name": .text("0255501001"), "carrier_name": .text("(02) 5550 1001"), "provider": .text("123A"),
            "signer": .text("CN=+61 255 501 001"), "invite_at": .integer(1_700_000_000_000_000),
            "evidence": .integer(Int64(DecisionEvidence().rawValue)),
        ]
        var content = FixedPages.Content()
        content.calls = [LedgerCallRow(shared: values, node: "", events: [])]
        content.call = content.calls[0]
        let texts = ["0255501001", "(02) 5550 1001", "CN=+61 255 501 001"]
        try await run(FixedPages(content)) { person in
            for path in ["/calls", "/calls/7", "/calls.csv", "/calls.jsonl"] {
                let body = try await person.get(path).body
                #expect(!texts.contains { body.contains($0) }, "\(path)")
                #expect(body.contains("02*****001"), "\(path)")
            }
            let cookie = try await person.cookie()
            let token = try await person.token(cookie)
            _ = try await person.post("/numbers", "token=\(token)&here=%2Fcalls", cookie)
            let whole = try await person.get("/calls/7", cookie).body
            #expect(whole.contains("(02) 5550 1001") && whole.contains("0255501001"))
        }
    }

    @Test func `exports at once have a limit`() throws {
        let exports = CallExports()
        var slots = (0..<CallExports.most).map { _ in exports.open() }
        #expect(slots.allSatisfy { $0 != nil } && exports.open() == nil)
        slots.removeLast()
        #expect(exports.open() != nil)
    }
}
