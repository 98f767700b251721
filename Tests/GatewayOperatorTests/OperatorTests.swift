// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("Output of the operator's commands")
struct OperatorTests {
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

    @Test func `JSON and CSV of a call have the same fields`() throws {
        let calls = try EndedCalls()
        try calls.end(1)
        let call = try #require(try LedgerReader(calls.database.ledger).calls(limit: 1).first)
        let json = call.json(in: .fixed(-18_000, "EST"))
        #expect(Set(json.keys) == Set(LedgerCallRow.csvTitles))
        let cells = Dictionary(zip(LedgerCallRow.csvTitles, call.csvCells(in: .fixed(-18_000, "EST")))) { first, _ in
            first
        }
        #expect(cells["local_time"] == "2025-12-31T19:00:00-05:00")
        #expect(json["local_time"] == .string("2025-12-31T19:00:00-05:00"))
        #expect(cells["invite_at"] == "2026-01-01T00:00:00.000Z")
        #expect(cells["outcome"] == "MISSED" && cells["ring_seconds"] == "30")
        #expect(cells["events"]??.contains("missed=waiting") == true)
        let line = try Output.line(json: json)
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
        let missing = try report("+61255501002").text
        #expect(missing.contains("decision  pass through: no_match\n"))
        #expect(missing.contains("do        Add +61255501002 at the directory, then run herald sync.\n"))
        #expect(!shown.text.contains("do      "))
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
