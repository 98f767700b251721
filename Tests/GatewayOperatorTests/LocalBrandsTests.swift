// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import ConfigurationFiles
import Foundation
import GRDB
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("The brands of the local copy")
struct LocalBrandsTests {
    private static let now: Int64 = 1_767_229_200  // an hour after the calls of `EndedCalls`
    private let calls: EndedCalls
    private let configuration: HeraldConfiguration

    init() throws {
        calls = try EndedCalls()
        let sections = calls.folder.sections.with("gateway", "{id: edge, state: ., runtime: run}")
            .with("directory", "{url: 'http://127.0.0.1:1', api_key_env: KEY}")
        configuration = try calls.folder.configuration(sections)
    }

    private func put(
        _ number: Int64, _ name: String, id: String = "", logo: String? = nil, reason: String? = nil
    ) throws {
        try calls.database.brands.write { database in
            try database.execute(
                sql: "INSERT INTO brand VALUES (?, ?, ?, ?, ?, '2026-01-01T00:00:00Z')",
                arguments: [number, name, id, logo, reason])
        }
    }

    private func text(of name: String) throws -> String {
        try LocalBrands(configuration, customer: nil).report(on: name, now: Self.now).text(in: .utc)
    }

    @Test func `a brand has its numbers, reason, logo, gates and calls`() throws {
        for number in 1...3 as ClosedRange<Int64> {
            try put(61_255_501_000 + number, "Acme, \"Bank\"", logo: "https://a.example/l.png", reason: "Alert")
        }
        try calls.end(2)
        let text = try text(of: "acme, \"bank\"")
        #expect(text.hasPrefix("brand     Acme, \"Bank\"\nnumbers   3, +61255501001 to +61255501003\n"), "\(text)")
        #expect(text.contains("\nreason    Alert\nlogo      https://a.example/l.png\n"), "\(text)")
        #expect(text.contains("\ncalls     2 in the last 7 days: 2 MISSED\n"), "\(text)")
        #expect(text.hasSuffix("\n") && text.split(separator: "\n").count == 8 + 2 + 2, "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
    }

    @Test func `a brand has the address of its public card where the account has cards`() async throws {
        try put(61_255_501_001, "Acme Bank", id: "acme & co", logo: "https://a.example/l.png")
        #expect(try !text(of: "acme & co").contains("card "))
        let links = try #require(CardLinks(template: "https://cards.example/b/{brand_id}"))
        try await BrandCacheStore(calls.database).store(cards: links)
        let text = try text(of: "acme & co")
        #expect(text.contains("\ncard      https://cards.example/b/acme%20%26%20co\n"), "\(text)")
    }

    @Test func `a brand whose numbers have several reasons has its name once`() throws {
        try put(61_255_501_001, "Acme Bank", id: "acme", reason: "Your card")
        try put(61_255_501_002, "Acme Bank", id: "acme", reason: "Your loan")
        let text = try text(of: "acme")
        #expect(text.components(separatedBy: "brand     ").count == 2, "\(text)")
        #expect(text.components(separatedBy: "\nnumbers   1, ").count == 3, "\(text)")
        #expect(text.contains("\nreason    Your card\n") && text.contains("\nreason    Your loan\n"), "\(text)")
    }

    @Test func `an identifier finds all its forms, and a brand without calls says so`() throws {
        try put(61_255_501_001, "Acme Bank", id: "acme", logo: "http://a.example/l.png")
        try put(61_255_501_009, "Acme Loans", id: "acme")
        let text = try text(of: "acme")
        #expect(
            text.contains("brand     Acme Bank (acme)\nnumbers   1, +61255501001\nlogo      http://a.example/l.png\n"))
        #expect(text.contains("brand     Acme Loans (acme)\nnumbers   1, +61255501009\nlogo      none\n"), "\(text)")
        #expect(text.contains("\ncalls     none in the last 7 days\n"))
        let json = try Output.line(
            json: LocalBrands(configuration, customer: nil).report(on: "acme", now: Self.now).json(in: .utc))
        #expect(json.contains("\"numbers\":2") && json.contains("\"last_calls\":[]"), "\(json)")
        #expect(json.contains("\"no_logo_because\":\"its URL is http"), "\(json)")
    }

    @Test func `a list has one row a brand, with the count of logos and reasons`() throws {
        for number in 1...4 as ClosedRange<Int64> {
            try put(
                61_255_501_000 + number, number < 4 ? "Acme Bank" : "Acme Loans", id: "acme",
                logo: number > 1 ? "https://a.example/l.png" : nil, reason: number > 1 ? "Reason \(number % 2)" : nil)
        }
        // Brands of the same name; those without an identifier are one.
        try put(61_255_502_001, "Dental", id: "d-1", reason: "Your appointment")
        try put(61_255_502_002, "Dental")
        try put(61_255_502_003, "Dental", logo: "https://d.example/l.png")
        try put(61_255_502_004, "Harbour")
        let brands = try BrandCacheReader(folder: configuration.state).brands(limit: 10)
        #expect(
            LocalBrands.table(brands, .narrow) == """
                BRAND  NAME                  NUMBERS  FIRST NUMBER  LOGOS  REASONS
                acme   Acme Bank and 1 more  4        +61255501001  1      2
                -      Dental                2        +61255502002  1      0
                d-1    Dental                1        +61255502001  0      1
                -      Harbour               1        +61255502004  0      0

                """)
        let json = try brands.map { try Output.line(json: $0.json) }
        for part in ["\"names\":2", "\"logos\":1", "\"logo_url\":\"https://a.example/l.png\"", "\"call_reasons\":2"] {
            #expect(json[0].contains(part), "\(json[0])")
        }
        #expect(!json[0].contains("\"call_reason\":"), "\(json[0])")
        #expect(json[2].contains("\"call_reason\":\"Your appointment\",\"call_reasons\":1"), "\(json[2])")
        #expect(
            try BrandCacheReader(folder: configuration.state).brands(limit: 2).map(\.name) == ["Acme Bank", "Dental"])
    }

    @Test(arguments: [
        ("acne", "; did you mean \"acme\"?"), ("Acme Banc", "; did you mean \"Acme Bank\"?"), ("zzzzzzzz", ""),
    ])
    func `an unknown brand is an error with a similar one`(name: String, hint: String) throws {
        try put(61_255_501_001, "Acme Bank", id: "acme")
        let error = #expect(throws: CommandFailure.self) { try text(of: name) }
        #expect(
            error?.description
                == "no brand has the identifier or the name \(name)\(hint); herald brands lists those of the local copy"
        )
    }

    @Test func `closed gates are named`() throws {
        try put(61_255_501_001, "Acme Bank", id: "acme")
        let gates = String(decoding: try JSONEncoder().encode(BrandingGates(accountStatus: "suspended")), as: UTF8.self)
        try calls.database.brands.write { database in
            try database.execute(sql: "UPDATE sync_state SET gates = ?", arguments: [gates])
        }
        let text = try text(of: "acme")
        #expect(text.contains("\ngates     closed: account_status\n"), "\(text)")
    }

    @Test func `hostile names reach no terminal`() throws {
        try put(61_255_501_001, "Evil\u{1B}[2J", id: "x\u{07}", reason: "r\u{202E}")
        let text = try text(of: "x\u{07}")
        #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{07}", "\u{202E}"].contains($0) })
        let error = #expect(throws: CommandFailure.self) { try self.text(of: "no\u{1B}[2J") }
        #expect(error?.description.contains("\u{1B}") == false)
    }

    @Test func `brands of a file have no list here`() throws {
        try calls.folder.put(Array("+61255501001|Acme\n".utf8), in: "brands.psv")
        let configuration = try calls.folder.configuration(calls.folder.sections.with("brands", "{file: brands.psv}"))
        let error = #expect(throws: CommandFailure.self) { _ = try LocalBrands(configuration, customer: nil) }
        #expect(error?.description.contains("herald lookup NUMBER decides about one of them") == true)
    }
}
