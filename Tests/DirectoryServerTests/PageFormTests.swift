// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Forms of the directory's pages", .timeLimit(.minutes(8)), .bothEngines)
struct PageFormTests {
    private static let header = "number,brand_name,logo_url,call_reason,brand_id\n"

    @Test func `a brand made on the pages reaches gateways, and a change too`() async throws {
        try await PageVisitor.run { visitor in
            let made = try await visitor.post(
                "/accounts/main/brands", ["brand_name": "Acme Bank", "owner_state": "active"])
            #expect(try await visitor.follow(made).text.contains("The brand is ready"))
            let added = try await visitor.submit(
                try await visitor.get("/accounts/main/brand?id=acme-bank"), "/accounts/main/brand/numbers",
                ["numbers": "(02) 5550 1001", "region": "au"])
            #expect(try await visitor.follow(added).text.contains("rings as Acme Bank"))
            #expect(try await visitor.directory.sync().branding.map(\.phoneNumber) == ["+61255501001"])
            let changed = try await visitor.submit(
                try await visitor.get("/accounts/main/brand?id=acme-bank"), "/accounts/main/brand",
                ["brand_name": "Acme", "call_reason": "Your card"])
            #expect(changed.status == 303)
            let sync = try await visitor.directory.sync()
            #expect(sync.branding.map(\.brandName) == ["Acme"] && sync.branding.map(\.callReason) == ["Your card"])
            _ = try await visitor.post("/numbers")
            let gone = try await visitor.submit(
                try await visitor.get("/accounts/main/numbers"), "/accounts/main/numbers/remove")
            #expect(gone.status == 303)
            #expect(try BrandNumbers(visitor.directory.database).page(after: nil, limit: 9).map(\.state) == [.inactive])
        }
    }

    @Test func `saving a brand without a change delivers nothing again`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme", logo: "https://a.example/l.png")
            let before = try FeedSummary(visitor.directory.database, account: .first, now: 0).lastChange
            let saved = try await visitor.submit(
                try await visitor.get("/accounts/main/brand?id=brand-1"), "/accounts/main/brand")
            #expect(saved.status == 303)
            #expect(try FeedSummary(visitor.directory.database, account: .first, now: 0).lastChange == before)
        }
    }

    @Test(arguments: [
        ("brand_name", "", "Write the name that phones show."),
        ("brand_name", "Acme\u{202E}daB", "The name has the invisible character U+202E (RIGHT-TO-LEFT OVERRIDE)"),
        ("brand_name", String(repeating: "a", count: 101), "The name has more than 100 characters"),
        ("logo_url", "javascript:alert(1)", "The logo is neither an http"),
        ("call_reason", "a\u{200F}b", "The call reason has the invisible character U+200F"),
        ("owner_state", "other", "Choose one of the states."),
    ])
    func `a refused value of a brand is named beside its field`(
        field: String, value: String, expected: String
    ) async throws {
        try await PageVisitor.run { visitor in
            var fields = ["brand_name": "Acme", "logo_url": "", "call_reason": "", "owner_state": "active"]
            fields[field] = value
            let refused = try await visitor.post(
                "/accounts/main/brands",
                [
                    "brand_name": fields["brand_name"] ?? "", "logo_url": fields["logo_url"] ?? "",
                    "call_reason": fields["call_reason"] ?? "", "owner_state": fields["owner_state"] ?? "",
                ])
            #expect(refused.status == 422)
            let problem = try #require(refused.problem(field), "\(refused.text)")
            #expect(problem.contains(expected), "\(problem)")
            #expect(try BrandList(visitor.directory.database).page(after: nil, limit: 9).isEmpty)
        }
    }

    @Test(arguments: [
        ("0491 570 156", "", "numbers", "the field Region"), (" \n\n", "", "numbers", "Write a number"),
        ("0491 570 156", "Australia", "region", "two letters"), ("+61 1", "", "numbers", "no valid number"),
        ("6.1492E+10", "", "numbers", "scientific notation"),
    ])
    func `a refused number has the remedy beside its field`(
        number: String, region: String, field: String, expected: String
    ) async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570157")
            let refused = try await visitor.post(
                "/accounts/main/brand/numbers", ["id": "brand-1", "numbers": number, "region": region])
            #expect(refused.status == 422)
            #expect(refused.problem(field)?.contains(expected) == true, "\(refused.problem(field) ?? refused.text)")
        }
    }

    @Test func `brands are found by name, and by the first digits of a number`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme 100% Bank")
            for (text, isFound) in [("100%25+b", true), ("acme", true), ("x", false), ("%25_%25", false)] {
                let page = try await visitor.get("/accounts/main/brands?q=\(text)")
                #expect(page.text.contains("/accounts/main/brand?id=brand-1") == isFound, "\(text)")
            }
            #expect(try await visitor.get("/accounts/main/brands?q=%2B61+491").text.contains("Acme 100% Bank"))
            #expect(try await visitor.get("/accounts/main/numbers?q=61492").text.contains("No number begins so."))
        }
    }

    @Test func `the preview of an import is exactly its result`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Old")
            try visitor.directory.put("+61491570150", name: "Gone")
            let file = Self.header + "+61491570156,New,,,brand-1\n+61491570158,Added,,,b2\n"
            let sent = try await visitor.send(file: file, to: "/accounts/main/import/file", ["replace": "on"])
            let preview = try await visitor.follow(sent)
            for text in ["was Old", "Added", "Removed", "Import these changes"] {
                #expect(preview.text.contains(text), "\(text)")
            }
            #expect(try await visitor.directory.sync().branding.map(\.brandName).contains("New") == false)
            let path = try #require(sent.headers["location"])
            let done = try await visitor.follow(try await visitor.post(path))
            #expect(done.text.contains("2 numbers added or changed, 1 removed"))
            let again = try await visitor.post(path)
            #expect(again.status == 404 && again.text.contains("used or cancelled"))
            let files = try FileManager.default.contentsOfDirectory(atPath: visitor.directory.database.folder)
            #expect(!files.contains { $0.hasPrefix("import-") })
        }
    }

    @Test func `a preview is refused when the brands have moved on, and the new one is shown`() async throws {
        try await PageVisitor.run { visitor in
            let sent = try await visitor.post(
                "/accounts/main/import/text", ["text": Self.header + "+61491570156,Acme,,,b1\n"])
            let path = try #require(sent.headers["location"])
            try visitor.directory.put("+61491570156", name: "Meanwhile")
            let refused = try await visitor.post(path)
            #expect(refused.status == 409 && refused.text.contains("changed since the preview"))
            #expect(refused.text.contains("was Meanwhile"))
            #expect(try await visitor.directory.sync().branding.map(\.brandName) == ["Meanwhile"])
            #expect(try await visitor.post(path).status == 303)
            #expect(try await visitor.directory.sync().branding.map(\.brandName) == ["Acme"])
        }
    }

    /// Sends a file of one valid line and two others; returns the page that shows them, and its path.
    private static func sendLines(_ visitor: PageVisitor) async throws -> (preview: ReceivedResponse, path: String) {
        let text = header + "+61491570156,Acme,,,b1\n0491570157,X,,,b2\n+61491570158,B\u{202E},,,b3\n"
        let sent = try await visitor.post("/accounts/main/import/text", ["text": text])
        return (try await visitor.follow(sent), try #require(sent.headers["location"]))
    }

    @Test func `invalid lines are reported with their reasons, also as CSV`() async throws {
        try await PageVisitor.run { visitor in
            let (preview, path) = try await Self.sendLines(visitor)
            for part in ["no number without its country", "field Region", "U+202E", "2 lines are invalid"] {
                #expect(preview.text.contains(part), "\(part)")
            }
            let csv = try await visitor.get(path + "/rejected.csv").text
            #expect(csv.hasPrefix("line,column,reason\r\n"))
            #expect(csv.contains("\r\n3,number,"))
        }
    }

    @Test func `valid lines are imported once`() async throws {
        try await PageVisitor.run { visitor in
            let (preview, path) = try await Self.sendLines(visitor)
            #expect(preview.text.contains("Import the valid line<"))
            let done = try await visitor.submit(preview, path)
            #expect(done.text.contains("1 number added or changed"))
            #expect(try await visitor.directory.sync().branding.map(\.brandName) == ["Acme"])
            #expect(try await visitor.submit(preview, path).status == 303, "the second time shows the first result")
        }
    }

    @Test func `the report of an import stays for a while, its file does not`() async throws {
        try await PageVisitor.run { visitor in
            let (preview, path) = try await Self.sendLines(visitor)
            let csv = try await visitor.get(path + "/rejected.csv").text
            #expect(try await visitor.submit(preview, path).text.contains("2 lines were rejected"))
            #expect(try await visitor.get(path).text.contains("2 lines were rejected"))
            #expect(try await visitor.get(path + "/rejected.csv").text == csv)
            let files = try FileManager.default.contentsOfDirectory(atPath: visitor.directory.database.folder)
            #expect(!files.contains { $0.hasPrefix("import-") })
        }
    }

    @Test func `a file with national numbers is read again with its region`() async throws {
        try await PageVisitor.run { visitor in
            let sent = try await visitor.post(
                "/accounts/main/import/text", ["text": Self.header + "0491570157,X,,,b2\n"])
            let preview = try await visitor.follow(sent)
            let path = try #require(sent.headers["location"])
            #expect(preview.text.contains("No line of this file is valid."))
            let refused = try await visitor.submit(preview, path + "/region", ["region": "Australia"])
            #expect(refused.status == 422 && refused.problem("region")?.contains("two letters") == true)
            let again = try await visitor.follow(
                try await visitor.submit(preview, path + "/region", ["region": "au"]))
            #expect(again.text.contains("Import these changes"))
            #expect(try await visitor.submit(again, path).status == 303)
            #expect(try await visitor.directory.sync().branding.map(\.phoneNumber) == ["+61491570157"])
        }
    }

    @Test func `a replacement takes no file with invalid lines`() async throws {
        try await PageVisitor.run { visitor in
            let text = Self.header + "+61491570156,Acme,,,b1\n0491570157,X,,,b2\n"
            let stopped = try await visitor.follow(
                try await visitor.post("/accounts/main/import/text", ["text": text, "replace": "on"]))
            #expect(stopped.text.contains("their numbers would be removed"))
            #expect(!stopped.text.contains("Import the"))
            let headless = try await visitor.follow(
                try await visitor.post("/accounts/main/import/text", ["text": "a,b\n1,2\n"]))
            #expect(headless.text.contains("This is no file of brands") && !headless.text.contains("Import the"))
            let empty = try await visitor.post("/accounts/main/import/text", ["text": ""])
            #expect(empty.problem("text")?.contains("There are no lines") == true)
            let nothing = try await visitor.post(
                "/accounts/main/import/text", ["text": Self.header, "replace": "on"])
            #expect(nothing.status == 422 && nothing.text.contains("would remove all numbers"))
        }
    }

    @Test func `a key is shown once and works until it is removed`() async throws {
        try await PageVisitor.run { visitor in
            let made = try await visitor.post("/accounts/main/keys", ["name": "sbc", "kind": "gateway"])
            let key = try #require(made.text.firstMatch(of: /<code>(hd_[^<]*)<\/code>/).map { String($0.1) })
            #expect(made.headers["cache-control"] == "no-store")
            let list = try await visitor.get("/accounts/main/keys")
            #expect(!list.text.contains(key) && list.text.contains("sbc"))
            let sync = "/" + APIPath.sync
            #expect(try await visitor.directory.ask(sync, headers: ["X-API-Key": key]).status == 200)
            let id = try #require(try AccountStore(visitor.directory.database).keys().last { $0.name == "sbc" }?.id)
            #expect(try await visitor.get("/accounts/main/keys/\(id)/remove").text.contains("cannot be undone"))
            #expect(try await visitor.directory.ask(sync, headers: ["X-API-Key": key]).status == 200)
            #expect(try await visitor.post("/accounts/main/keys/\(id)/remove").status == 303)
            #expect(try await visitor.directory.ask(sync, headers: ["X-API-Key": key]).status == 401)
            let twice = try await visitor.post("/accounts/main/keys", ["name": "test", "kind": "gateway"])
            #expect(twice.problem("name")?.contains("already") == true)
        }
    }

    @Test func `a logo is uploaded after its preview, and removed unless it is used`() async throws {
        try await PageVisitor.run { visitor in
            let refused = try await visitor.send(file: "<svg/>", to: "/logo-file", ["name": "a.png"])
            #expect(refused.status == 422 && refused.problem("file")?.contains("SVG") == true)
            #expect(
                try await visitor.send(file: "x", to: "/logo-file", ["name": "../a"]).problem("name")?.contains(
                    "no dot first")
                    == true)
            let database = visitor.directory.database
            let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            _ = try LogoStore(database).add(picture, name: "b.png", now: 1)
            try visitor.directory.put("+61491570156", logo: "b.png")
            let used = try await visitor.follow(try await visitor.post("/logo-removal", ["name": "b.png"]))
            #expect(used.text.contains("give it another logo first"))
            #expect(try await visitor.get("/picture?name=b.png").body == Array(picture))
            #expect(try await visitor.get("/picture?name=..%2Fdirectory.sqlite").status == 404)
        }
    }

    @Test func `the state of an account is changed, with problems beside the fields`() async throws {
        try await PageVisitor.run { visitor in
            let version = try await visitor.version(in: "/accounts/main", of: "/accounts/main")
            let bad = try await visitor.post(
                "/accounts/main",
                ["version": version, "status": "On Hold", "mode": "live", "cap": "", "included": "0"])
            #expect(bad.status == 422 && bad.problem("status")?.contains("There is no status") == true)
            let good = try await visitor.post(
                "/accounts/main",
                [
                    "version": version, "status": "trial", "mode": "testing", "cap": "10", "included": "5",
                    "dialer": "on", "card": "on",
                ])
            #expect(good.status == 303)
            let summary = try AccountList(visitor.directory.database).summary(of: .first, now: 0)
            #expect(summary.status == "trial" && summary.mode == "testing" && summary.cap == 10)
            #expect(!summary.brandingEnabled && summary.voipDialerEnabled && summary.includedImprints == 5)
            #expect(summary.hasCards)
        }
    }

    @Test(
        arguments: [
            ("active", true, nil, "on"), ("trial", true, nil, "on"), ("active", false, nil, "off"),
            ("suspended", true, nil, "stopped by status"), ("past_due", true, nil, "stopped by status"),
            ("closed", false, nil, "off"), ("active", true, 0, "stopped by cap"),
        ] as [(String, Bool, Int?, String)])
    func `the pages say what stops the brands of an account`(
        status: String, isOn: Bool, cap: Int?, shown: String
    ) async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.change { ($0.status, $0.brandingEnabled, $0.cap) = (status, isOn, cap) }
            for path in ["/accounts", "/accounts/main"] {
                let page = try await visitor.get(path).text
                #expect(page.contains(">\(shown)<"), "\(path): \(status)")
                for other in ["on", "off", "stopped by status", "stopped by cap"] where other != shown {
                    #expect(!page.contains(">\(other)<"), "\(path): \(other)")
                }
            }
        }
    }

    @Test func `a status of an earlier version stays until another is chosen`() async throws {
        try await PageVisitor.run { visitor in
            let database = visitor.directory.database
            try await database.pool.write { try $0.execute("UPDATE account SET status = 'actve'") }
            let page = try await visitor.get("/accounts/main").text
            #expect(page.contains("actve (unknown, stops branding)") && page.contains(">stopped by status<"))
            func save(_ status: String) async throws -> ReceivedResponse {
                try await visitor.post(
                    "/accounts/main",
                    [
                        "version": try await visitor.version(in: "/accounts/main", of: "/accounts/main"),
                        "status": status, "mode": "live", "cap": "7", "included": "0", "branding": "on", "dialer": "on",
                    ])
            }
            let kept = try await save("actve")
            #expect(kept.status == 303)
            #expect(try AccountList(database).summary(of: .first, now: 0).status == "actve")
            #expect(try AccountList(database).summary(of: .first, now: 0).cap == 7)
            let chosen = try await save("active")
            #expect(chosen.status == 303)
            let wrong = try await save("actve")
            #expect(
                wrong.status == 422
                    && wrong.text.contains("choose one of active, trial, past_due, suspended, cancelled, closed"))
        }
    }

    @Test func `the report has a plot without script, and the same rows as CSV`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            _ = try await visitor.directory.report("displayed")
            let month = String(Timestamp.string(from: visitor.directory.time.now).prefix(7))
            let page = try await visitor.get("/report?month=\(month)")
            #expect(page.text.contains("<svg class=\"plot\"") && page.text.contains("Acme"))
            #expect(page.text.contains("Days and months are in UTC, as on the bill."))
            #expect(page.text.components(separatedBy: "class=\"bar\"").count - 1 == ReportPages.length(of: month))
            let csv = try await visitor.get("/report.csv?month=\(month)")
            #expect(csv.text == MonthReport.csv(try MonthReports(visitor.directory.database).reports(month: month)))
            let bad = try await visitor.get("/report?month=2026-13")
            #expect(bad.status == 422 && bad.problem("month")?.contains("no month") == true)
        }
    }

    @Test func `events are searched by number, type and time`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            _ = try await visitor.directory.report("displayed")
            _ = try await visitor.directory.report("answered", number: "+61491570157")
            func count(_ query: String) async throws -> Int {
                try await visitor.get("/accounts/main/events?" + query).text.components(
                    separatedBy: "<td data-label=\"Number\""
                )
                .count - 1
            }
            #expect(try await count("") == 2)
            #expect(try await count("number=%2B61491570157") == 1)
            #expect(try await count("outcome=displayed") == 1)
            #expect(try await count("since=2000-01-01T00:00&until=2000-01-02") == 0)
            let bad = try await visitor.get("/accounts/main/events?number=12&since=soon")
            #expect(bad.status == 422 && bad.problem("since") != nil && bad.problem("number") != nil)
        }
    }

    @Test(arguments: [("2026-02", 28), ("2028-02", 29), ("2100-02", 28), ("2026-04", 30), ("2026-12", 31)])
    func `a month has its days`(month: String, days: Int) {
        #expect(ReportPages.length(of: month) == days)
    }

    @Test(arguments: [(0, 1), (1, 1), (3, 5), (12, 20), (51, 100), (1234, 2000), (999_999, 1_000_000)])
    func `a scale ends at a round number`(value: Int, end: Int) {
        #expect(DayPlot.round(max(value, 1)) == end)
    }
}
