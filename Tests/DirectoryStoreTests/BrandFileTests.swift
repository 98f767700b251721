// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Files of brands, in and out", .timeLimit(.minutes(8)), .bothEngines)
struct BrandFileTests {
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path + "/state")
    }

    private func load(
        _ text: String, _ edit: (inout BrandImport.Options) -> Void = { _ in }
    ) throws -> BrandImport.Result {
        var options = BrandImport.Options()
        edit(&options)
        return try BrandImport(database) { E164Number($0) }.run(Array(text.utf8), options, now: ManualTime.start)
    }

    private func exported(_ format: BrandExport.Format) async throws -> String {
        var export = try BrandExport(database, format: format)
        var bytes: [UInt8] = []
        while let piece = try await export.next() { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    private var stored: [BrandingItem] { get throws { try BrandEntries(database).active(limit: 10_000) } }

    @Test func `a dry run says what would be done and does nothing`() throws {
        _ = try load("number,brand_name\n+61491570156,Acme\n+61491570157,Acme\n")
        let before = try stored
        let result = try load("number,brand_name\n+61491570156,Acme\n+61491570158,New\n") {
            ($0.isTrial, $0.replaces) = (true, true)
        }
        #expect(result.imported == 1 && result.unchanged == 1 && result.deactivated == 1)
        #expect(!result.isWritten)
        #expect(try stored == before)
    }

    @Test func `a file that replaces takes the numbers it has not out of use`() throws {
        _ = try load("number,brand_name\n+61491570156,Acme\n+61491570157,Acme\n")
        let result = try load("number,brand_name\n+61491570157,Acme\n") { $0.replaces = true }
        #expect(result.deactivated == 1)
        #expect(try stored.map(\.phoneNumber) == ["+61491570157"])
        #expect(throws: BrandImportError.replacesWithNothing) {
            try load("number,brand_name\n") { $0.replaces = true }
        }
        #expect(throws: BrandImportError.replacesAndSkips) {
            try load("number,brand_name\n+61491570157,A\n") { ($0.replaces, $0.skipsInvalid) = (true, true) }
        }
        #expect(try stored.count == 1)
    }

    @Test func `JSON lines are read with the fields of a sync response`() throws {
        let result = try load(
            "\u{FEFF}"
                + #"{"phone_number_e164":"+61491570156","brand_name":" Acme ","call_reason":null,"updated_at":"x"}"#
                + "\r\n\n" + #"{"phone_number_e164":"+61491570157","brand_name":"B","is_active":true}"#)
        #expect(result.problems == [])
        #expect(try stored.map(\.brandName) == ["Acme", "B"])
    }

    @Test(
        arguments: [
            (#"{"phone_number_e164":"+61491570156","brand_name":5}"#, "brand_name is not a text", "brand_name"),
            (
                #"{"phone_number_e164":"0491570156","brand_name":"A"}"#,
                "\"0491570156\" is no number without its country: write it with + and the country code, such as "
                    + "+61491570156, or name the region of the numbers (--region)", "number"
            ),
            (#"{"phone_number_e164":"+61491570156"}"#, "no brand_name", "brand_name"),
            (#"{"phone_number_e164":"+61491570156","brand_name":"A""#, "not a JSON object", nil),
            (
                #"{"phone_number_e164":"+61491570156","brand_name":"A","is_active":false}"#,
                "is_active is not true; remove the number instead", nil
            ),
            (
                #"{"phone_number_e164":"+61491570156","brand_name":"A","colour":"red"}"#,
                "unknown field \"colour\"; known are brand_id, brand_name, call_reason, logo_url, phone_number_e164",
                nil
            ),
            ("{" + String(repeating: " ", count: 70_000) + "}", "the line has more than 65536 bytes", nil),
        ] as [(String, String, String?)])
    func `a bad line of JSON is named with its column`(line: String, reason: String, column: String?) throws {
        let result = try load(#"{"phone_number_e164":"+61491570150","brand_name":"Good"}"# + "\n" + line + "\n")
        #expect(!result.isWritten)
        #expect(result.problems == [BrandImport.Problem(line: 2, column: column, reason: reason)])
        #expect(try stored.isEmpty)
    }

    @Test func `an array is refused with a way out`() throws {
        let problems = try load("[{}]").problems
        #expect(problems.first?.reason.contains("one object a line") == true)
    }

    @Test func `a missing quote costs one field's memory and its row, not the file`() throws {
        let filler = String(repeating: "x", count: 70_000) + "\n"
        let result = try load("number,brand_name\n+61491570156,\"A\(filler)+61491570157,B\n") { $0.skipsInvalid = true }
        #expect(result.problems.map(\.line) == [2])
        #expect(result.problems.first?.reason == CSVReader.Defect.tooLong.rawValue)
        #expect(try stored.map(\.brandName) == ["B"])
    }

    @Test func `a thousand problems are reported and the rest are counted`() throws {
        let result = try load("number,brand_name\n" + String(repeating: "x,A\n", count: 1500))
        #expect(result.problems.count == 1000)
        #expect(result.rejected == 1500)
    }

    @Test(arguments: BrandExport.Format.allCases)
    func `an export is imported again to the letter`(format: BrandExport.Format) async throws {
        let names = [
            "=1+1", "+44 Acme", "-Acme", "@acme", "'=quoted", "''", "'Acme", "A, \"B\" & C", "Käthes ☎︎ Läden", "Acme",
        ]
        let entries = try names.enumerated().map { place, name in
            BrandEntries.Entry(
                number: try #require(E164Number(digits: 61_491_570_000 + UInt64(place))), name: name,
                brandID: "-id\(place)", logoURL: place == 1 ? "-logo.png" : nil, callReason: place == 2 ? "=cmd" : nil)
        }
        _ = try BrandEntries(database).put(entries, now: 5)
        let file = try await exported(format)
        let before = try stored
        _ = try BrandNumbers(database).deactivate(entries.map(\.number), now: 5)
        let result = try load(file)
        #expect(result.imported == names.count)
        #expect(try stored.map(\.brandName) == names)
        let after = try stored
        #expect(after.map(\.brandID) == before.map(\.brandID))
        #expect(after.map(\.logoURL) == before.map(\.logoURL))
        #expect(after.map(\.callReason) == before.map(\.callReason))
        if format == .csv {
            let cells = file.split(separator: "\r\n").dropFirst().flatMap { $0.split(separator: ",").dropFirst() }
            #expect(cells.allSatisfy { !"=+-@".contains($0.first ?? " ") })
        }
    }

    @Test func `an export has numbers that are held back, and every page`() async throws {
        let entries = try (0..<2500).map { place in try entry("+6149157\(1000 + place)") }
        _ = try BrandEntries(database).put(entries, now: 5)
        var change = BrandList.Change()
        change.owner = .suspended
        _ = try BrandList(database).change("acme", change, now: 6)
        #expect(try stored.isEmpty)
        #expect(try await exported(.csv).split(separator: "\r\n").count == 2501)
        #expect(try await exported(.jsonl).split(separator: "\n").count == 2500)
    }

    @Test func `an export of nothing is a header that can be imported`() async throws {
        #expect(try await exported(.csv) == "number,brand_name,logo_url,call_reason,brand_id\r\n")
        #expect(try await exported(.jsonl).isEmpty)
    }

    @Test func `a file is read in pieces, and one that is not there is named`() throws {
        let rows = (0..<20_000).map { "+6149\(1_000_000 + $0),Brand \($0 % 7)\n" }.joined()
        try folder.write(Array(("number,brand_name\n" + rows).utf8), to: "brands.csv")
        let importer = BrandImport(database) { E164Number($0) }
        #expect(try importer.run(path: folder.path + "/brands.csv", now: 1).imported == 20_000)
        #expect(throws: BrandImportError.unreadable("/nowhere.csv", "No such file or directory")) {
            try importer.run(path: "/nowhere.csv", now: 1)
        }
    }
}
