// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing
import WebPages

@testable import DirectoryServer
@testable import DirectoryStore

/// The page of a brand, used as a person does: fields, logo, preview, numbers.
@Suite("The page of a brand", .timeLimit(.minutes(8)), .bothEngines)
struct BrandPageTests {
    private static let png = PictureSample.png
    private static let path = "/accounts/main/brand?id=acme"
    private static let save = "/accounts/main/brand"
    private static let add = "/accounts/main/brand/numbers"

    /// A brand `acme` without numbers.
    private static func run(_ body: @escaping @Sendable (PageVisitor, BrandList) async throws -> Void) async throws {
        try await PageVisitor.run { visitor in
            let brands = BrandList(visitor.directory.database)
            var change = BrandList.Change()
            (change.name, change.reason) = ("Acme Bank", "Your card")
            try brands.create(id: "acme", change, now: visitor.directory.time.now)
            try await body(visitor, brands)
        }
    }

    // MARK: Logo

    /// Uploads a logo in the form of `acme`, and returns its name.
    private static func upload(_ visitor: PageVisitor, _ brands: BrandList) async throws -> String {
        let saved = try await visitor.submit(try await visitor.get(path), save, file: ("logo_file", png))
        #expect(try await visitor.follow(saved).text.contains("Saved."))
        return try #require(try brands.brand("acme").logo)
    }

    @Test func `an uploaded logo is the brand's, and its form has it chosen`() async throws {
        try await Self.run { visitor, brands in
            let logo = try await Self.upload(visitor, brands)
            #expect(logo.hasPrefix("acme-") && logo.hasSuffix(".png") && LogoRules.isPlainName(logo))
            #expect(try await visitor.get("/picture?name=\(logo)").body == Self.png)
            let form = try await visitor.get(Self.path)
            #expect(PageFields(form.text, action: Self.save)?["logo_url"] == logo)
        }
    }

    @Test func `another brand can choose an uploaded logo, and keeps it when the first gives it up`() async throws {
        try await Self.run { visitor, brands in
            let logo = try await Self.upload(visitor, brands)
            let new = try await visitor.get("/accounts/main/new-brand")
            let fields: KeyValuePairs = ["brand_name": "Second", "logo_url": logo]
            #expect(try await visitor.submit(new, "/accounts/main/brands", fields).status == 303)
            #expect(try brands.brand("second").logo == logo)
            let form = try await visitor.get(Self.path)
            #expect(try await visitor.submit(form, Self.save, ["logo_url": ""]).status == 303)
            #expect(try brands.brand("acme").logo == nil)
            #expect(try brands.brand("second").logo == logo)
        }
    }

    @Test func `a new picture outlives a preview and a refused value, and is stored with the brand alone`() async throws
    {
        try await Self.run { visitor, brands in
            let form = try await visitor.get(Self.path)
            let preview = try await visitor.submit(
                form, Self.save, ["brand_name": "New name"], file: ("logo_file", Self.png), to: Self.save + "/preview")
            #expect(preview.status == 200 && preview.text.contains("Nothing is saved yet."))
            let picture = try #require(preview.text.firstMatch(of: /<img src="(\/logo-upload\/[^"]*)"/)).1
            #expect(try await visitor.get(String(picture)).body == Self.png)
            #expect(try LogoStore(visitor.directory.database).all().isEmpty)
            let refused = try await visitor.submit(preview, Self.save, ["brand_name": ""])
            #expect(refused.status == 422 && refused.problem("brand_name") != nil)
            let saved = try await visitor.submit(refused, Self.save, ["brand_name": "New name"])
            #expect(saved.status == 303)
            #expect(try brands.brand("acme").logo?.hasPrefix("acme-") == true)
            #expect(try LogoStore(visitor.directory.database).all().count == 1)
            #expect(try await visitor.get(String(picture)).status == 404)
        }
    }

    @Test func `a file that is no picture is refused beside its field, and changes nothing`() async throws {
        try await Self.run { visitor, brands in
            let before = try brands.brand("acme")
            for (bytes, expected) in [
                (Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), "SVG"),
                ([0x47, 0x49, 0x46], "no picture"),
                (Array(PictureSample.gif.prefix(60)), "cut short"),
                (Self.png + [UInt8](repeating: 0, count: LogoIntake.limit), "at most"),
            ] as [([UInt8], String)] {
                let form = try await visitor.get(Self.path)
                let refused = try await visitor.submit(
                    form, Self.save, ["brand_name": "Other"], file: ("logo_file", bytes))
                #expect(refused.status == 422 && refused.problem("logo_file")?.contains(expected) == true)
            }
            #expect(try brands.brand("acme") == before)
            #expect(try LogoStore(visitor.directory.database).all().isEmpty)
        }
    }

    @Test(arguments: [PictureSample.webp, PictureSample.avif, PictureSample.heic, PictureSample.gif])
    func `a picture of another format becomes a logo with transparency`(bytes: [UInt8]) async throws {
        try await Self.run { visitor, brands in
            let saved = try await visitor.submit(
                try await visitor.get(Self.path), Self.save, file: ("logo_file", bytes))
            #expect(saved.status == 303)
            let logo = try #require(try brands.brand("acme").logo)
            #expect(logo.hasSuffix(".png"))
            let picture = try LogoPicture(try await visitor.get("/picture?name=\(logo)").body)
            #expect(picture.format == .png && picture.width == 48 && picture.height == 32)
        }
    }

    @Test func `an address is the logo when it is chosen, and a written one is never dropped silently`() async throws {
        try await Self.run { visitor, brands in
            let url = "https://a.example/l.png"
            let form = try await visitor.get(Self.path)
            let unclear = try await visitor.submit(form, Self.save, ["logo_other": url])
            #expect(unclear.status == 422 && unclear.problem("logo_url")?.contains("Choose the address") == true)
            let chosen = try await visitor.submit(unclear, Self.save, ["logo_url": LogoChoice.otherValue])
            #expect(chosen.status == 303)
            let page = try await visitor.get(Self.path)
            #expect(try brands.brand("acme").logo == url && page.text.contains("load no picture of another server"))
            let none = try await visitor.submit(page, Self.save, ["logo_url": ""])
            #expect(none.status == 303)
            #expect(try brands.brand("acme").logo == nil)
            let empty = try await visitor.submit(
                try await visitor.get(Self.path), Self.save, ["logo_url": LogoChoice.otherValue])
            #expect(empty.problem("logo_url")?.contains("Write a name or an address") == true)
        }
    }

    @Test(arguments: [
        ("acme", "acme-"), ("Ünïcode Bänk 24", "n-code-b-nk-24-"), ("../../etc", "etc-"), ("銀行", "logo-"),
        (String(repeating: "a", count: 200), String(repeating: "a", count: 40) + "-"),
    ])
    func `a new picture has a plain name of its own`(brand: String, begin: String) {
        func made(_ bytes: [UInt8]) -> NewPicture {
            NewPicture(.init(data: Data(bytes), type: "image/png", width: 48, height: 32, thumbnail: Data()))
        }
        let picture = made(Self.png)
        let name = picture.name(for: brand)
        #expect(name.hasPrefix(begin) && name.count == begin.count + 12 && LogoRules.isPlainName(name))
        let other = made(Self.png + [0])
        #expect(other.name(for: brand) != name)
    }

    // MARK: Preview

    @Test func `the card shows the written values, light and dark, and saves nothing`() async throws {
        try await Self.run { visitor, brands in
            let hostile = "\"\u{301}<script>alert(1)</script>"
            let preview = try await visitor.submit(
                try await visitor.get(Self.path), Self.save, ["brand_name": hostile, "call_reason": "Card <b>"],
                to: Self.save + "/preview")
            #expect(preview.text.components(separatedBy: "<p class=\"who\">&quot;\u{301}&lt;script&gt;").count == 3)
            #expect(preview.text.contains("<p class=\"why\">Card &lt;b&gt;</p>"))
            #expect(preview.text.contains("handset day") && preview.text.contains("handset night"))
            #expect(!preview.text.contains("<script>alert"))
            #expect(try brands.brand("acme").name == "Acme Bank")
            let new = try await visitor.submit(
                try await visitor.get("/accounts/main/new-brand"), "/accounts/main/brands", ["brand_name": "Fresh"],
                to: "/accounts/main/brands/preview")
            #expect(new.text.contains("<p class=\"who\">Fresh</p>"))
            #expect(try brands.page(after: nil, limit: 9).map(\.id) == ["acme"])
        }
    }

    // MARK: Two persons

    @Test func `of two persons with one brand the second sees the values of the first`() async throws {
        try await Self.run { visitor, brands in
            let (first, second) = (try await visitor.get(Self.path), try await visitor.get(Self.path))
            #expect(try await visitor.submit(first, Self.save, ["brand_name": "First"]).status == 303)
            let refused = try await visitor.submit(
                second, Self.save, ["call_reason": "Second"], file: ("logo_file", Self.png))
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this brand"))
            #expect(refused.problem("brand_name") == "Saved meanwhile: First")
            #expect(try brands.brand("acme").name == "First" && brands.brand("acme").reason == "Your card")
            #expect(try LogoStore(visitor.directory.database).all().isEmpty, "no picture stays behind")
            // The second person decides, with the picture still chosen.
            let decided = try await visitor.submit(refused, Self.save, ["brand_name": "First"])
            #expect(decided.status == 303)
            let brand = try brands.brand("acme")
            #expect(brand.name == "First" && brand.reason == "Second" && brand.logo?.hasPrefix("acme-") == true)
        }
    }

    @Test func `a form without a version changes nothing`() async throws {
        try await Self.run { visitor, brands in
            let refused = try await visitor.post(
                Self.save, ["id": "acme", "brand_name": "Blind", "owner_state": "active"])
            #expect(refused.status == 409)
            #expect(try brands.brand("acme").name == "Acme Bank")
        }
    }

    // MARK: Numbers

    @Test func `many numbers are added at once, and each line that is none is named`() async throws {
        try await Self.run { visitor, brands in
            let text = "+61491570156\n\n 0491 570 157 \r\nbanana\n+61491570156\n+61 1\n"
            let partly = try await visitor.submit(
                try await visitor.get(Self.path), Self.add, ["numbers": text, "region": "au"])
            #expect(partly.status == 422 && partly.text.contains("2 numbers ring as Acme Bank"))
            #expect(partly.text.contains("2 lines were not added"))
            for (line, text) in [(4, "banana"), (6, "+61 1")] {
                #expect(partly.text.contains("<span class=\"value\">\(line)</span>"), "\(line)")
                #expect(partly.text.contains("<span class=\"value\">\(text)</span>"), "\(text)")
            }
            #expect(PageFields(partly.text, action: Self.add)?["numbers"] == "banana\n+61 1")
            #expect(try brands.brand("acme").numbers == 2)
            let rest = try await visitor.submit(partly, Self.add, ["numbers": "+61491570158"])
            #expect(try await visitor.follow(rest).text.contains("+61******158 rings as Acme Bank"))
            #expect(try await visitor.directory.sync().branding.count == 3)
        }
    }

    @Test func `numbers of another brand are named`() async throws {
        try await Self.run { visitor, brands in
            try visitor.directory.put("+61491570156", "+61491570157", name: "Other")
            let one = try await visitor.submit(
                try await visitor.get(Self.path), Self.add, ["numbers": "+61491570156"])
            #expect(try await visitor.follow(one).text.contains("It was a number of Other."))
            let two = try await visitor.submit(
                try await visitor.get(Self.path), Self.add, ["numbers": "+61491570157\n+61491570158"])
            #expect(try await visitor.follow(two).text.contains("One was a number of Other."))
        }
    }

    @Test func `too many lines go through an import`() async throws {
        try await Self.run { visitor, brands in
            let lines = (0...NumberLines.most).map { "+6149157\(1000 + $0)" }.joined(separator: "\n")
            let refused = try await visitor.submit(try await visitor.get(Self.path), Self.add, ["numbers": lines])
            #expect(refused.status == 422 && refused.problem("numbers")?.contains("as a file") == true)
            #expect(try brands.brand("acme").numbers == 0)
        }
    }

    @Test func `a hostile line is shown as text and cut`() async throws {
        try await Self.run { visitor, _ in
            let line = "<img src=x onerror=alert(1)>\u{202E}" + String(repeating: "a", count: 5000)
            let refused = try await visitor.submit(try await visitor.get(Self.path), Self.add, ["numbers": line])
            #expect(refused.status == 422 && !refused.text.contains("<img src=x"))
            #expect(!refused.text.contains(String(repeating: "a", count: 200)))
        }
    }

    // MARK: Accounts

    @Test func `a brand of another account is neither shown nor changed`() async throws {
        try await Self.run { visitor, brands in
            _ = try AccountList(visitor.directory.database).create(name: "second", now: 1)
            let form = try await visitor.get(Self.path)
            let fields = try #require(PageFields(form.text, action: Self.save))
            for path in ["/accounts/second/brand", "/accounts/second/brand/preview"] {
                let refused = try await visitor.post(
                    path, ["id": "acme", "brand_name": "Stolen", "version": fields["version"] ?? ""])
                #expect(refused.status == 404, "\(path)")
            }
            let numbers = try await visitor.post(
                "/accounts/second/brand/numbers", ["id": "acme", "numbers": "+61491570156"])
            #expect(numbers.status == 404)
            #expect(try await visitor.get("/accounts/second/brand?id=acme").status == 404)
            #expect(try brands.brand("acme").name == "Acme Bank" && brands.brand("acme").numbers == 0)
        }
    }
}
