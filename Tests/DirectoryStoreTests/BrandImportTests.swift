// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Importing brands", .timeLimit(.minutes(8)), .bothEngines)
struct BrandImportTests {
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path)
    }

    private func load(
        _ text: String, region: String? = nil, skipsInvalid: Bool = false
    ) throws -> BrandImport.Result {
        let normaliser = NumberNormaliser(region: try region.map { try #require(Region($0)) })
        var options = BrandImport.Options()
        options.skipsInvalid = skipsInvalid
        return try BrandImport(database) { normaliser.normalise(Array($0.utf8)) }
            .run(Array(text.utf8), options, now: ManualTime.start)
    }

    private var stored: [BrandingItem] {
        get throws { try BrandEntries(database).active(limit: 1000) }
    }

    @Test func `columns are found by their names`() throws {
        let result = try load(
            "brand_id, Call_Reason ,brand_name,number,logo_url\r\n"
                + "acme,\"Your order, ready\",\"The \"\"Corner\"\" Bakery\",+61491570156,https://l.example/a.png\r\n")
        #expect(result.isWritten)
        #expect(result.imported == 1)
        let expected = BrandingItem(
            phoneNumber: "+61491570156", brandName: "The \"Corner\" Bakery", brandID: "acme",
            updatedAt: "2026-01-01T00:00:00Z", logoURL: "https://l.example/a.png", callReason: "Your order, ready")
        #expect(try stored == [expected])
    }

    @Test func `a second import changes what differs and counts the rest`() throws {
        let header = "number,brand_name,logo_url,call_reason,brand_id\n"
        _ = try load(header + "+61491570156,Acme,,,acme\n+61491570157,Acme,,,acme\n")
        let result = try load(header + "+61491570156,Acme Bank,,,acme\n+61491570157,Acme,,,acme\n+61491570158,New,,,\n")
        #expect(result.imported == 2)
        #expect(result.unchanged == 1)
        #expect(try stored.map(\.brandName) == ["Acme Bank", "Acme", "New"])
    }

    @Test func `an import switches a number on again`() throws {
        let text = "number,brand_name\n+61491570156,Acme\n"
        _ = try load(text)
        #expect(try BrandEntries(database).deactivate(#require(E164Number("+61491570156")), now: 1))
        #expect(try stored.isEmpty)
        #expect(try load(text).imported == 1)
        #expect(try stored.count == 1)
    }

    @Test(
        arguments: [
            ("0491 570 156", "AU", "+61491570156"), ("(020) 7946-0958", "GB", "+442079460958"),
            ("+1 202 555 0142", nil, "+12025550142"), ("0061491570156", "GB", "+61491570156"),
        ] as [(String, String?, String)])
    func `numbers are read as they are written in a region`(written: String, region: String?, number: String) throws {
        _ = try load("number,brand_name\n\(written),Acme\n", region: region)
        #expect(try stored.map(\.phoneNumber) == [number])
    }

    @Test(arguments: [
        (
            "0491570156,Acme,,,",
            "\"0491570156\" is no number without its country: write it with + and the country code, such as "
                + "+61491570156, or name the region of the numbers (--region)"
        ), (",Acme,,,", "no number"),
        ("+61491570156,,,,", "no brand_name"), ("+61491570156,  ,,,", "no brand_name"),
        ("+61491570156,Acme,,,,", "more fields than the header has columns"),
        ("+61491570156,\(String(repeating: "n", count: 101)),,,", "brand_name has more than 100 characters"),
        ("+61491570156,Acme,,\(String(repeating: "r", count: 201)),", "call_reason has more than 200 characters"),
        ("+61491570156,Acme,,,\(String(repeating: "i", count: 65))", "brand_id has more than 64 characters"),
        (
            "+61491570156,Acme,https://l.example/\(String(repeating: "l", count: 2048)),,",
            "logo_url has more than 2048 characters"
        ),
        (
            "+61491570156,Acme,../a.png,,",
            "logo_url is neither an http:// or https:// URL nor the plain name of a logo file"
        ),
        (
            "+61491570156,Acme,javascript:alert(1),,",
            "logo_url is neither an http:// or https:// URL nor the plain name of a logo file"
        ),
        (
            "+61491570156,\"Ac\u{7}me\",,,", "brand_name has the invisible character U+0007; remove it"
        ),
        ("+61491570156,\"Acme\nBank\",,,", "brand_name has the invisible character U+000A; remove it"),
        // UAX #9 §2: an override and an isolate turn the text behind them.
        (
            "+61491570156,Acme \u{202E}knaB,,,",
            "brand_name has the invisible character U+202E (RIGHT-TO-LEFT OVERRIDE); remove it"
        ),
        (
            "+61491570156,Acme,,Your \u{2066}order,",
            "call_reason has the invisible character U+2066 (LEFT-TO-RIGHT ISOLATE); remove it"
        ),
        (
            "+61491570156,A\u{200B}cme,,,",
            "brand_name has the invisible character U+200B (ZERO WIDTH SPACE); remove it"
        ),
        ("+61491570157,Acme,,,", "+61491570157 is already on line 2"),
        ("+61491570156,\"Acme,,,", "a quoted field is not closed"),
    ])
    func `a bad row keeps the whole file out and is named by its line`(row: String, reason: String) throws {
        let text = "number,brand_name,logo_url,call_reason,brand_id\n+61491570157,Good,,,\n\n" + row + "\n"
        let result = try load(text)
        #expect(!result.isWritten)
        #expect(result.problems.map(\.description) == ["line 4: \(reason)"])
        #expect(try stored.isEmpty)
        let skipped = try load(text, skipsInvalid: true)
        #expect(skipped.isWritten)
        #expect(skipped.imported == 1)
        #expect(skipped.problems.count == 1)
        #expect(try stored.map(\.brandName) == ["Good"])
    }

    @Test(arguments: [
        ("", "line 1: the file is empty"), ("number,logo_url\n", "line 1: the header has no column brand_name"),
        ("+61491570156,Acme\n", "line 1: the header has no column number"),
        ("\nnumber,number,brand_name\n", "line 2: the header has a column twice"),
        (
            "number,brand_name,colour\n",
            "line 1: unknown column \"colour\"; known are number, brand_name, logo_url, call_reason, brand_id"
        ),
        ("number,\"brand_name\n+61491570156,Acme", "line 1: a quoted field is not closed"),
    ])
    func `a header that says something else is refused, whatever else is asked`(text: String, problem: String) throws {
        for skipsInvalid in [false, true] {
            let result = try load(text, skipsInvalid: skipsInvalid)
            #expect(!result.isWritten)
            #expect(result.problems.map(\.description) == [problem])
        }
    }

    @Test(arguments: [
        ("Acme & Sons, Ltd.", "acme-sons-ltd"), ("Käthes Läden", "käthes-läden"), ("☎︎", "brand-61491570156"),
    ])
    func `a brand without an identifier is named by its name`(name: String, identifier: String) throws {
        _ = try load("number,brand_name\n+61491570156,\"\(name)\"\n")
        #expect(try stored.map(\.brandID) == [identifier])
    }

    @Test func `the sample brands are all good and their logos are there`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let text = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: root + "/Config/sample-brands.csv")), as: UTF8.self)
        let result = try load(text)
        #expect(result.problems == [])
        #expect(result.imported >= 10)
        for item in try stored {
            guard let logo = item.logoURL, !logo.contains("://") else { continue }
            let data = try Data(contentsOf: URL(fileURLWithPath: root + "/Config/logos/" + logo))
            #expect(data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(data.count < 4096)
        }
    }
}
