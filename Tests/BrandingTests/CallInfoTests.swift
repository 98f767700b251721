// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Call-Info, RFC 3261 §20.9, RFC 9796")
struct CallInfoTests {
    private static let logo = "https://logos.example/acme-128x128.png"

    /// Renders one brand with an index.
    private static func render(
        logo: String?, reason: String?, name: String = "Acme", profile: RenderingProfile = .init()
    ) throws -> (full: String, reasonOnly: String, logoURL: String?) {
        let number = try #require(E164Number("+61255501234"))
        var builder = BrandIndexBuilder(profile: profile, generation: 1, expectedCount: 1)
        builder.add(
            BrandRecord(
                number: number, name: name, brandID: "b", logoURL: logo, callReason: reason, updatedAt: "x"))
        let index = builder.finish()
        let entry = try #require(index.entry(for: number))
        for part in BrandPart.allCases { #expect(index.length(of: part, entry) == index.text(part, entry).utf8.count) }
        return (index.text(.callInfo, entry), index.text(.callInfoReasonOnly, entry), index.logoURL(of: entry))
    }

    @Test func `logo and call reason share one value`() throws {
        let value = try Self.render(logo: Self.logo, reason: "Order update")
        #expect(value.full == "<https://logos.example/acme-128x128.png>;purpose=icon;call-reason=\"Order update\"")
        #expect(value.reasonOnly == "<data:>;purpose=jcard;call-reason=\"Order update\"")
        #expect(value.logoURL == Self.logo)
    }

    @Test func `a logo alone has no call-reason parameter`() throws {
        let value = try Self.render(logo: Self.logo, reason: nil)
        #expect(value.full == "<https://logos.example/acme-128x128.png>;purpose=icon")
        #expect(value.reasonOnly.isEmpty)
    }

    @Test func `a call reason alone uses the null URI`() throws {
        let value = try Self.render(logo: nil, reason: "Order update")
        #expect(value.full == "<data:>;purpose=jcard;call-reason=\"Order update\"")
        #expect(value.reasonOnly == value.full)
        #expect(value.logoURL == nil)
    }

    @Test(arguments: [(nil, nil), ("", ""), ("ftp://x.example/a", "\r\n"), (nil, "\u{202E}")] as [(String?, String?)])
    func `a brand without logo and call reason has no value`(logo: String?, reason: String?) throws {
        let value = try Self.render(logo: logo, reason: reason)
        #expect(value.full.isEmpty)
        #expect(value.reasonOnly.isEmpty)
        #expect(value.logoURL == nil)
    }

    @Test func `a brand of a directory is never marked as verified`() throws {
        let value = try Self.render(logo: Self.logo, reason: "Order")
        #expect(!value.full.contains("verified"))
        #expect(!value.reasonOnly.contains("verified"))
    }

    @Test(arguments: [
        ("Your \"order\"", "\"Your \\\"order\\\"\""),
        ("a\\", "\"a\\\\\""),
        ("x\";verified=\"true", "\"x\\\";verified=\\\"true\""),
        ("Hi\r\nX: y", "\"Hi X: y\""),
        ("50% ${x}", "\"50 percent {x}\""),
    ])
    func `a call reason cannot end its quotes`(reason: String, expected: String) throws {
        #expect(try Self.render(logo: nil, reason: reason).full == "<data:>;purpose=jcard;call-reason=" + expected)
    }

    @Test func `a call reason is cut at 64 characters by default`() {
        let long = String(repeating: "é", count: 300)
        #expect(CallInfo(logoURL: nil, reason: long, profile: .init()).reason?.count == 64)
        #expect(CallInfo(logoURL: nil, reason: long, profile: .init(maxReasonCharacters: 150)).reason?.count == 150)
        let stacked = "a" + String(repeating: "\u{301}", count: 5000)
        #expect(CallInfo(logoURL: nil, reason: stacked, profile: .init()).reason == nil)
    }

    @Test(arguments: [
        "https://logos.example/a.png", "HTTPS://logos.example/a.png", "https://l.example:8443/a%20b.png?x=1&y=(2)#z",
        "https://[2001:db8::1]/a.png", "https://l.example",
    ])
    func `an https URL of plain characters is written unchanged`(logo: String) throws {
        #expect(try Self.render(logo: logo, reason: nil).full == "<\(logo)>;purpose=icon")
    }

    @Test(arguments: [
        "", "https://", "https:///a.png", "https://:443/a.png", "http://logos.example/a.png", "//logos.example/a.png",
        "data:image/png;base64,AA", "cid:1", "javascript:alert(1)", "sip:a@b", "https://user:pass@l.example/a.png",
        "https://l.example/a b.png", "https://l.example/a>;purpose=icon", "https://l.example/<a",
        "https://l.example/\"",
        "https://l.example/a\r\nX: y", "https://l.example/\0", "https://l.example/ä.png", "https://l.example/a\\b",
        "https://l.example/${x}", "https://l.example/a\u{7F}",
    ])
    func `a logo URL that is unsafe in a header is left out`(logo: String) throws {
        #expect(try Self.render(logo: logo, reason: nil).full.isEmpty)
    }

    @Test func `a logo URL may have at most 2048 characters`() throws {
        let base = "https://l.example/"
        let longest = base + String(repeating: "a", count: 2048 - base.utf8.count)
        #expect(try Self.render(logo: longest, reason: nil).full == "<\(longest)>;purpose=icon")
        #expect(try Self.render(logo: longest + "a", reason: nil).full.isEmpty)
    }

    @Test func `an http logo is written only if the operator allows it`() throws {
        let profile = RenderingProfile(allowInsecureLogos: true)
        let logo = "http://127.0.0.1:8080/acme.png"
        #expect(try Self.render(logo: logo, reason: nil, profile: profile).full == "<\(logo)>;purpose=icon")
        #expect(try Self.render(logo: "ftp://l.example/a", reason: nil, profile: profile).full.isEmpty)
    }
}
