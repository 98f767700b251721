// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import Primitives
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// Events and the report of a month, by brand and by the end of the call.
@Suite("Events and reports on pages", .timeLimit(.minutes(8)), .bothEngines)
struct EventPageTests {
    /// A zone five hours behind UTC.
    private static let zone = LocalZone { _ in .init(seconds: -5 * 3600, name: "EST") }

    private static func report(
        _ visitor: PageVisitor, _ outcome: String, _ end: String?, _ key: String, _ number: String = "+61491570156"
    ) async throws {
        var event = EventRequest(phoneNumber: number, outcome: outcome, eventKey: key)
        event.meta = end.map { ["call_outcome": .string($0)] }
        _ = try await visitor.directory.event(event)
    }

    private static func rows(_ page: ReceivedResponse) -> Int {
        page.text.components(separatedBy: "<td data-label=\"Number\"").count - 1
    }

    @Test func `events have brand and outcome, and are found by both`() async throws {
        try await PageVisitor.run(edit: { $0.zone = Self.zone }) { visitor in
            try visitor.directory.put("+61491570156", name: "Acme <b>")
            try await Self.report(visitor, "displayed", nil, "1")
            try await Self.report(visitor, "call_seen", "ANSWERED", "2")
            try await Self.report(visitor, "call_seen", "REJECTED", "3")
            try await Self.report(visitor, "call_seen", "ANSWERED", "4", "+61491570199")
            try await Self.report(visitor, "call_seen", "<script>", "5")
            let page = try await visitor.get("/accounts/main/events")
            #expect(page.text.contains("<a href=\"/accounts/main/brand?id=brand-1\">Acme &lt;b&gt;</a>"))
            #expect(page.text.contains(">answered</span>") && page.text.contains(">declined</span>"))
            func count(_ query: String) async throws -> Int {
                Self.rows(try await visitor.get("/accounts/main/events?" + query))
            }
            #expect(try await count("") == 5)
            let found = [
                ("brand=brand-1", 4), ("brand=acme", 4), ("call=ANSWERED", 2), ("call=ANSWERED&brand=acme", 1),
                ("call=nonsense", 0),
            ]
            for (query, expected) in found { #expect(try await count(query) == expected, "\(query)") }
            let unknown = try await visitor.get("/accounts/main/events?brand=%27%25_")
            #expect(unknown.status == 422 && unknown.problem("brand")?.contains("No brand has this") == true)
        }
    }

    @Test func `events of another account are not shown`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            try await Self.report(visitor, "missed", "MISSED", "1")
            _ = try AccountList(visitor.directory.database).create(name: "second", now: 1)
            #expect(Self.rows(try await visitor.get("/accounts/second/events")) == 0)
            #expect(try await visitor.get("/accounts/second/events?brand=acme").status == 422)
            let month = String(Timestamp.string(from: visitor.directory.time.now).prefix(7))
            let report = try await visitor.get("/report?account=second&month=\(month)")
            #expect(report.text.contains("No event was reported") && !report.text.contains("Acme"))
        }
    }

    /// The clock of the tests begins at 2026-01-01T00:00:00Z.
    @Test func `times are local, with UTC beside them, and a search reads local times`() async throws {
        try await PageVisitor.run(edit: { $0.zone = Self.zone }) { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            try await Self.report(visitor, "missed", "MISSED", "1")
            for path in ["/accounts/main/events", "/accounts/main/brands", "/accounts/main/numbers"] {
                let page = try await visitor.get(path).text
                #expect(page.contains("2025-12-31 19:00:00 EST"), "\(path)")
                #expect(page.contains("<span class=\"detail\">2026-01-01 00:00:00 UTC</span>"), "\(path)")
            }
            func count(_ query: String) async throws -> Int {
                Self.rows(try await visitor.get("/accounts/main/events?" + query))
            }
            let found = [
                ("since=2025-12-31T19:00&until=2025-12-31T19:01", 1), ("since=2025-12-31T19:00:01", 0),
                ("until=2025-12-31T19:00", 0), ("since=2026-01-01T00:00:00Z", 1), ("since=2025-12-31", 1),
                ("since=2026-01-01", 0),
            ]
            for (query, expected) in found { #expect(try await count(query) == expected, "\(query)") }
        }
    }

    @Test func `on a machine with UTC there is no second time`() async throws {
        try await PageVisitor.run(edit: { $0.zone = .utc }) { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            let page = try await visitor.get("/accounts/main/brands").text
            #expect(page.contains("2026-01-01 00:00:00 UTC") && !page.contains("(00:00:00 UTC)"))
        }
    }

    @Test func `the report has the calls of a month by brand and day, and as CSV`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme <b>")
            try await Self.report(visitor, "displayed", "ANSWERED", "0")
            for key in ["1", "2", "3"] { try await Self.report(visitor, "call_seen", "ANSWERED", key) }
            try await Self.report(visitor, "missed", "MISSED", "4")
            try await Self.report(visitor, "returned", nil, "5")
            visitor.directory.time.now += 86_400
            try await Self.report(visitor, "missed", "BUSY", "6")
            let page = try await visitor.get("/report?month=2026-01").text
            func cells(_ first: String, _ values: [String]) -> String {
                let labels = ["Answered", "Missed", "Share answered", "Returned"]
                return zip(labels, values).reduce(into: first) { text, cell in
                    text += "<td data-label=\"\(cell.0)\" class=\"number\"><span class=\"value\">\(cell.1)</span></td>"
                }
            }
            func text(_ label: String, _ value: String) -> String {
                "<td data-label=\"\(label)\"><span class=\"value\">\(value)</span></td>"
            }
            let brand = text("Brand", "Acme &lt;b&gt;")
            #expect(page.contains(cells(brand, ["3", "2", "60 %", "1"])), "\(page)")
            #expect(page.contains(cells(text("Day", "2026-01-01") + brand, ["3", "1", "75 %", "1"])))
            #expect(page.contains(cells(text("Day", "2026-01-02") + brand, ["0", "1", "0 %", "0"])))
            #expect(page.contains("Calls a day of main") && page.contains("Bill of main"))
            let csv = try await visitor.get("/report.csv?month=2026-01&of=calls")
            #expect(csv.text.hasPrefix("account,day,brand_id,brand_name,answered,missed,returned,mode\r\n"))
            #expect(csv.headers["content-disposition"]?.contains("calls-2026-01.csv") == true)
            let earlier = try await visitor.get("/report?month=2025-12").text
            #expect(earlier.contains("No event was reported in this month."))
        }
    }
}
