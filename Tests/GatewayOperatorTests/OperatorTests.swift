// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("Output of the operator's commands")
struct OperatorTests {
    @Test(arguments: [
        ("2026-01-31", 1_769_817_600, 1_769_903_999), ("2026-01-31T12:00:00Z", 1_769_860_800, 1_769_860_800),
    ])
    func `a day counts from its first to its last second`(text: String, first: Int64, last: Int64) {
        #expect(OperatorTime.first(text) == first && OperatorTime.last(text) == last)
    }

    @Test func `a query without options is valid and selects all calls`() {
        let query = CallQuery()
        #expect(query.problem == nil && query.limit == 20)
        #expect(query.filter == CallFilter())
    }

    @Test(arguments: [
        ("limit", "--limit must be 1 to 1000000"), ("number", "--number must be a number"),
        ("outcome", "--outcome must be one of answered, missed"), ("since", "--since must be a day or a moment in UTC"),
        ("until", "--until must be a day or a moment in UTC"),
    ])
    func `a query names the option that is wrong`(option: String, problem: String) {
        var query = CallQuery()
        switch option {
        case "limit": query.limit = 0
        case "number": query.number = String(repeating: "1", count: 65)
        case "outcome": query.outcome = "lost"
        case "since": query.since = "yesterday"
        default: query.until = "2026-13-01"
        }
        #expect(query.problem?.hasPrefix(problem) == true, "\(query.problem ?? "")")
    }

    @Test func `a query becomes a filter of the ledger`() {
        var query = CallQuery()
        query.number = "+61255501001"
        query.outcome = "open"
        query.since = "2026-01-31"
        query.until = "2026-01-31"
        query.isBranded = true
        let filter = query.filter
        #expect(filter.number?.description == "+61255501001" && filter.received == "+61255501001")
        #expect(filter.outcome == "OPEN" && filter.isBranded == true)
        #expect(filter.until.map { $0 - (filter.since ?? 0) } == 86_399)
    }

    @Test(arguments: [
        ("0110", "0110"), ("00110", "00110"), ("0491570110", "491570110"), ("570 110", "570110"), ("110", nil),
        ("0061491570110", "61491570110"), ("1a10", nil),
    ])
    func `the end of a number may begin with zeros, a prefix is left out`(text: String, digits: String?) {
        var query = CallQuery()
        query.number = text
        #expect(query.filter.numberEnd == digits)
    }

    @Test(
        arguments: [
            ("2016-08-16", 1_471_305_600), ("2016-08-16T19:23:48Z", 1_471_375_428), ("1471375428", 1_471_375_428),
            ("253402300799", 253_402_300_799), ("253402300800", nil), ("-1", nil), ("9223372036854775807", nil),
            ("noon", nil), ("", nil),
        ] as [(String, Int64?)])
    func `the time of a call is a day, a moment or seconds`(text: String, seconds: Int64?) {
        #expect((try? OperatorTime.ofCall(text)) == seconds)
    }

    @Test func `a file that this user may not read is passed by standard input`() {
        #expect(
            CommandFile.remedy(for: EACCES, path: "a.txt") == "; pass it by standard input: - in its place, and <a.txt")
        #expect(CommandFile.remedy(for: ENOENT, path: "a.txt").isEmpty)
    }

    @Test func `the story of a call has its facts, its timeline and its events`() throws {
        let calls = try EndedCalls()
        try calls.end(1)
        let call = try #require(try LedgerReader(calls.database.ledger).calls(limit: 1).first)
        let story = CallStory(call).text
        #expect(story.hasPrefix("call \(call.callID)\n  SIP Call-ID  c1\n"))
        #expect(story.contains("  outcome      MISSED\n"))
        #expect(story.contains("     0.000 s  "), "\(story)")
        #expect(story.contains("    31.000 s  "), "\(story)")
        #expect(story.contains("  event missed: waiting\n"), "\(story)")
        #expect(!story.contains("still in progress"))
    }

    @Test func `JSON and CSV of a call have the same fields`() throws {
        let calls = try EndedCalls()
        try calls.end(1)
        let call = try #require(try LedgerReader(calls.database.ledger).calls(limit: 1).first)
        #expect(Set(call.json.keys) == Set(LedgerCallRow.csvTitles))
        let cells = Dictionary(zip(LedgerCallRow.csvTitles, call.csvCells)) { first, _ in first }
        #expect(cells["invite_at"] == "2026-01-01T00:00:00.000Z")
        #expect(cells["outcome"] == "MISSED" && cells["ring_seconds"] == "30")
        #expect(cells["events"]??.contains("missed=waiting") == true)
        let line = try Output.line(json: call.json)
        #expect(line.hasSuffix("}\n") && !line.contains("null"), "unknown values are left out")
    }

    @Test func `a lookup decides as the gateway would, from a file of brands`() throws {
        let folder = try GatewayFolder()
        try folder.put(Array("+61255501001|Acme Bank|https://a.example/l.png||b-7\n".utf8), in: "brands.psv")
        try folder.put([], in: "state/x")
        let configuration = try folder.configuration(folder.sections.with("brands", "{file: brands.psv}"))
        func report(_ number: String, region: String? = nil, _ attestation: Attestation = .none) throws -> LookupReport
        {
            try BrandLookup(number, region: region, trunk: nil, attestation: attestation, configuration).report()
        }
        let shown = try report("(02) 5550 1001")
        #expect(shown.text.contains("decision  show: matched\n") && shown.text.contains("brand     Acme Bank (b-7)\n"))
        #expect(shown.json["shown"] == .bool(true))
        #expect(try report("+61255501001", .failed).json["shown"] == .bool(false))
        #expect(try report("+61255501002").text.contains("decision  pass through: "))
        // As people paste it from a log or a phone: RFC 3261 §20.20, RFC 3966 §3, RFC 3325 §9.1.
        for pasted in [
            "sip:+61255501001@203.0.113.5", "sips:+61255501001@sbc.example:5061;user=phone", "tel:+61-2-5550-1001",
            "<sip:+61255501001@203.0.113.5>;tag=as5d1f", #""Acme, Bank" <sip:0255501001@203.0.113.5>;tag=1"#,
            "From: Acme <sip:+61255501001@203.0.113.5>;tag=9", "f: <sip:%2B61255501001@h>",
            "P-Asserted-Identity: <tel:0255501001;phone-context=+61>", "sip:+61255501001;verstat=No-TN-Validation@h",
            " +61255501001@203.0.113.5 ",
        ] {
            let report = try report(pasted)
            #expect(report.text.contains("number    +61255501001\n"), "\(pasted): \(report.text)")
            #expect(report.json["shown"] == .bool(true), "\(pasted)")
        }
        // A wrong region is seen.
        #expect(
            try report("2025550123", region: "US").text.contains(
                "read      \"2025550123\" read as +12025550123 by region US of trunk carrier\n"))
        let unclear = try report("0491570156", region: "US")
        #expect(unclear.json["decision"] == .string("number_unclear"))
        #expect(
            unclear.text.contains(
                "read      no certain number by region US of trunk carrier; check the region of the trunk\n"))
        #expect(!(try report("+61255501001").text.contains("\nread")))
        #expect(try report("nonsense").text.contains("number    not certain which number \"nonsense\" is\n"))
        let region = #expect(throws: CommandFailure.self) { try report("1", region: "XX") }
        #expect(region?.description.hasPrefix("XX is no country with a numbering plan") == true)
        let trunk = #expect(throws: CommandFailure.self) {
            try BrandLookup("1", region: nil, trunk: "other", attestation: .none, configuration).report()
        }
        #expect(trunk?.description == "no trunk is named other; there are carrier")
    }

    @Test(arguments: ["", ", cache_lifetime: 72h"])
    func `a lookup has no line of a lifetime, which only the running gateway knows`(setting: String) throws {
        let folder = try GatewayFolder()
        _ = try HeraldDatabase(folder: folder.path + "/state")
        let configuration = try folder.configuration(
            folder.sections.with("directory", "{url: 'https://a.example', api_key_env: KEY\(setting)}"))
        let text = try BrandLookup(
            "+61255501001", region: nil, trunk: nil, attestation: .a, configuration
        ).report().text
        #expect(!text.contains("lifetime"), "\(text)")
        #expect(text.contains("decision  pass through: "))
    }

    @Test func `branding that is switched off is the reason of a lookup`() throws {
        let folder = try GatewayFolder()
        try folder.put(Array("+61255501001|Acme Bank|||b-7\n".utf8), in: "brands.psv")
        try folder.put([], in: "state/x")
        let text = folder.sections.with("brands", "{file: brands.psv}").with("branding", "{enabled: false}")
        let report = try BrandLookup(
            "+61255501001", region: nil, trunk: nil, attestation: .a, try folder.configuration(text)
        ).report()
        #expect(report.text.contains("(branding.enabled)"))
        #expect(report.json["shown"] == .bool(false))
    }

    @Test func `a check of the configuration has a summary or the problems`() throws {
        let folder = try GatewayFolder()
        try folder.write(folder.sections)
        let good = ConfigurationCheck(path: folder.configurationPath)
        #expect(good.problems.isEmpty && good.stateProblems.isEmpty && good.summary.contains("carrier"))
        try folder.write(folder.sections.text + "unknown: 1\nstrangers: none\n")
        let bad = ConfigurationCheck(path: folder.configurationPath)
        #expect(bad.problems.count == 2 && bad.summary.isEmpty)
        #expect(bad.problemText.hasSuffix("2 problems; nothing would start\n"))
    }
}
