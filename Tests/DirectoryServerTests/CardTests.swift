// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Public cards", .timeLimit(.minutes(8)), .bothEngines)
struct CardTests {
    /// A directory whose first account has cards.
    private static func run(
        publicURL: String? = "https://brands.example/", limits: Int = 0,
        _ body: @escaping @Sendable (RunningDirectory) async throws -> Void
    ) async throws {
        try await RunningDirectory.run(
            publicURL: publicURL, edit: { $0.policies.rateLimits.cards = limits },
            { directory in
                try directory.change { $0.hasCards = true }
                try await body(directory)
            })
    }

    /// Without a key.
    private static func read(
        _ directory: RunningDirectory, _ path: String, method: String = "GET", headers: [String: String] = [:]
    ) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(method: method, path: path, headers: headers.map { ($0.key, $0.value) }), port: directory.port)
    }

    @Test func `a card has the brand, its numbers and the tags of a shared link`() async throws {
        try await Self.run { directory in
            try directory.put(
                entry("+61491570156", logo: "https://logos.example/acme.png", reason: "Your order"),
                entry("+61491570157", reason: "Your loan"))
            _ = try BrandList(directory.database).change(
                "acme", Self.change { $0.logo = "https://logos.example/acme.png" }, now: 1)
            let card = try await Self.read(directory, "/b/acme")
            #expect(card.status == 200)
            #expect(card.headers["content-type"] == "text/html; charset=utf-8")
            for part in [
                "<h1><bdi>Acme Bank</bdi></h1>", "href=\"tel:+61491570156\">Call back</a>",
                "<a href=\"tel:+61491570156\">+61491570156</a>", "<a href=\"tel:+61491570157\">+61491570157</a>",
                "<bdi>Your order</bdi>", "<bdi>Your loan</bdi>", "<img src=\"https://logos.example/acme.png\"",
                "<meta property=\"og:title\" content=\"Acme Bank\">",
                "<meta property=\"og:url\" content=\"https://brands.example/b/acme\">",
                "<meta property=\"og:image\" content=\"https://logos.example/acme.png\">",
            ] { #expect(card.text.contains(part), "\(part)") }
            #expect(!card.text.contains("<script"))
            #expect(card.body.count < 8192)
        }
    }

    private static func change(_ edit: (inout BrandList.Change) -> Void) -> BrandList.Change {
        var change = BrandList.Change()
        edit(&change)
        return change
    }

    @Test func `a browser may load nothing but the logo, and run nothing`() async throws {
        try await Self.run { directory in
            try directory.put(entry("+61491570156"))
            _ = try BrandList(directory.database).change(
                "acme", Self.change { $0.logo = "https://logos.example:8443/a.png" }, now: 1)
            let card = try await Self.read(directory, "/b/acme")
            let policy = try #require(card.headers["content-security-policy"])
            #expect(
                policy.wholeMatch(
                    of:
                        /default-src 'none'; style-src 'sha256-[A-Za-z0-9+\/=]{44}'; img-src https:\/\/logos\.example:8443; base-uri 'none'; form-action 'none'; frame-ancestors 'none'/
                ) != nil, "\(policy)")
            // The hash is that of the style as it was sent.
            #expect(policy.contains(CardPage.source(ofStyleIn: card.text)))
            #expect(card.headers["x-content-type-options"] == "nosniff")
            #expect(card.headers["referrer-policy"] == "no-referrer")
            #expect(card.headers["set-cookie"] == nil)
        }
    }

    @Test func `a card is cached, and asked for again by its tag`() async throws {
        try await Self.run { directory in
            try directory.put(entry("+61491570156"))
            let card = try await Self.read(directory, "/b/acme")
            let tag = try #require(card.headers["etag"])
            #expect(card.headers["cache-control"] == "public, max-age=300")
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let again = try await Self.read(directory, "/b/acme", headers: ["If-None-Match": known])
                #expect(again.status == 304 && again.body.isEmpty && again.headers["etag"] == tag)
            }
            let head = try await Self.read(directory, "/b/acme", method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty && head.headers["etag"] == tag)
            #expect(head.headers["content-length"] == "\(card.body.count)")
            _ = try BrandList(directory.database).change("acme", Self.change { $0.name = "Acme Credit" }, now: 1)
            let changed = try await Self.read(directory, "/b/acme", headers: ["If-None-Match": tag])
            #expect(changed.status == 200 && changed.headers["etag"] != tag)
            let post = try await Self.read(directory, "/b/acme", method: "POST")
            #expect(post.status == 405 && post.headers["allow"] == "GET, HEAD")
        }
    }

    /// Reasons for which a brand has no card.
    enum Closed: CaseIterable {
        case unknown, isOff, brandingOff, suspendedAccount, suspendedOwner, heldNumber, noNumber, twoAccounts
    }

    @Test(arguments: Closed.allCases)
    func `an unknown brand and one without a public card have the same page`(reason: Closed) async throws {
        try await Self.run { directory in
            try directory.put(entry("+61491570156"))
            let brands = BrandList(directory.database)
            switch reason {
            case .unknown: break
            case .isOff: try directory.change { $0.hasCards = false }
            case .brandingOff: try directory.change { $0.brandingEnabled = false }
            case .suspendedAccount: try directory.change { $0.status = "suspended" }
            case .suspendedOwner: _ = try brands.change("acme", Self.change { $0.owner = .suspended }, now: 1)
            case .heldNumber: _ = try brands.change("acme", Self.change { $0.owner = .unresolved }, now: 1)
            case .noNumber: try directory.deactivate("+61491570156")
            case .twoAccounts:
                var change = AccountStore.Change()
                change.hasCards = true
                let other = try AccountList(directory.database).create(name: "other", change, now: 1)
                _ = try BrandEntries(directory.database, account: other).put(
                    [try entry("+61491570199", "Another Acme")], now: 1)
            }
            let missing = try await Self.read(directory, "/b/nobody")
            let found = try await Self.read(directory, reason == .unknown ? "/b/other" : "/b/acme")
            #expect(found.status == 404 && found.body == missing.body)
            func fields(_ response: ReceivedResponse) -> [String: String] {
                response.headers.filter { $0.key != "date" }
            }
            #expect(fields(found) == fields(missing))
            #expect(!found.text.contains("Acme"))
        }
    }

    @Test func `cards are off until the operator switches them on, and need public_url`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            #expect(try await Self.read(directory, "/b/acme").status == 404)
        }
        try await Self.run(publicURL: nil) { directory in
            try directory.put(entry("+61491570156"))
            #expect(try await Self.read(directory, "/b/acme").status == 404)
        }
    }

    @Test func `a number out of use is not on the card, and a long list is cut`() async throws {
        try await Self.run { directory in
            for place in 10..<50 { try directory.put(entry("+614915700\(place)")) }
            try directory.deactivate("+61491570010")
            let card = try await Self.read(directory, "/b/acme")
            #expect(!card.text.contains("+61491570010"))
            #expect(card.text.contains(">Call back</a>") && card.text.contains("There are more numbers."))
            #expect(card.text.ranges(of: "<li>").count == BrandCards.most)
            #expect(card.body.count < 8192)
        }
    }

    // A card has no key, so its cost and its time must not depend on the size of an account.
    @Test(.sqliteAlone) func `a card reads the numbers of its brand alone`() throws {
        let database = try Engine.open(TemporaryFolder().path)
        func plan(_ query: String, _ arguments: SQLArguments) throws -> [String] {
            try database.pool.read { database in
                try database.rows("EXPLAIN QUERY PLAN " + query, arguments).map { $0["detail"] as String }
            }
        }
        let brand = try plan(BrandCards.brandQuery(.sqlite), ["acme"])
        // The account comes first: a closed card costs as much time as an unknown one.
        #expect(brand.first?.hasPrefix("SCAN account") == true, "\(brand)")
        #expect(brand.dropFirst().first?.contains("(account=? AND id=?)") == true, "\(brand)")
        #expect(brand.last?.contains("brand_number_brand (account=? AND brand_id=?)") == true, "\(brand)")
        let numbers = try plan(BrandCards.numberQuery(.sqlite), [1, "acme", 21])
        #expect(
            numbers.count == 1 && numbers[0].contains("brand_number_brand (account=? AND brand_id=?)"), "\(numbers)")
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "{{cardURL}}", "Acme & Sons' \"Bank\"",
        "\u{202E}knaB emcA", "Acme\u{0}Bank", "Acme\r\nBank", "A\u{301}\u{301}\u{301}",
    ])
    func `a hostile name stays text`(name: String) async throws {
        try await Self.run { directory in
            // NUL is no text for PostgreSQL; the store of an earlier version kept the others.
            let name = name.replacing("\u{0}", with: "")
            try directory.put(entry("+61491570156", name, reason: name))
            let card = try await Self.read(directory, "/b/acme")
            #expect(card.status == 200)
            #expect(card.text.ranges(of: "<script").isEmpty && card.text.ranges(of: "<img").isEmpty)
            #expect(!card.text.unicodeScalars.contains("\u{202E}"))
            #expect(!card.text.contains("content=\"\"><img"))
            #expect(card.text.ranges(of: "https://brands.example/b/acme").count == 2)
        }
    }

    @Test(arguments: [
        "a/b", "a b", "a?b#c", "<script>", "b\u{FC}ro", "a%2Fb", "\u{540D}\u{524D}", "a&b;c", "...", "acme-bank",
    ])
    func `each identifier has its card at the address that links name`(id: String) async throws {
        try await Self.run { directory in
            let number = try #require(E164Number("+61491570156"))
            _ = try BrandEntries(directory.database).put(
                [BrandEntries.Entry(number: number, name: "Acme Bank", brandID: id)], now: 1)
            let url = try #require(CardURL.text(base: "https://brands.example", brandID: id))
            let card = try await Self.read(directory, String(url.dropFirst("https://brands.example".count)))
            #expect(card.status == 200)
            #expect(card.text.contains("og:url\" content=\"\(url)\""))
        }
    }

    @Test(arguments: [
        "/b/", "/b/.", "/b/..", "/b/%2e%2e", "/b/%00", "/b/acme%00", "/b/%ff", "/b/acme/x", "/b/acme%2F",
        "/b/' OR 1=1 --".replacing(" ", with: "%20"), "/b/" + String(repeating: "a", count: 4000), "/b/ACME",
        "/b/%25", "/b/%", "/b/acme%0d%0aSet-Cookie:%20x",
    ])
    func `a hostile address has no card`(path: String) async throws {
        try await Self.run { directory in
            try directory.put(entry("+61491570156"))
            let response = try await Self.read(directory, path)
            #expect(response.status == 404)
            #expect(response.headers["set-cookie"] == nil)
            #expect(!response.text.contains("Acme"))
        }
    }

    @Test(arguments: [
        ("http://logos.example/a.png", false), ("https://logos.example/a.png", true),
        ("https://user@logos.example/a.png", false), ("https://logos.example;script-src/a.png", false),
    ])
    func `a logo that the page may not load is left out`(logo: String, isShown: Bool) async throws {
        #expect((CardLogo.shown(logo, on: "https://brands.example/") != nil) == isShown)
        #expect(CardLogo.shown("http://127.0.0.1:8088/logos/a.png", on: "http://127.0.0.1:8088") != nil)
    }

    @Test func `an address has a limit`() async throws {
        try await Self.run(limits: 2) { directory in
            try directory.put(entry("+61491570156"))
            for _ in 0..<2 { #expect(try await Self.read(directory, "/b/acme").status == 200) }
            let refused = try await Self.read(directory, "/b/nobody")
            #expect(refused.status == 429 && refused.headers["retry-after"] == "60")
            // Clients behind a proxy of this machine have limits of their own.
            let other = try await Self.read(directory, "/b/acme", headers: ["X-Forwarded-For": "203.0.113.9"])
            #expect(other.status == 200)
            directory.time.now += 60
            #expect(try await Self.read(directory, "/b/acme").status == 200)
        }
    }

    @Test func `the switch is in the API and in the listing of accounts`() async throws {
        try await Operator.run { admin in
            let shown = try await admin.ask("accounts/main")
            #expect(shown.object["card_enabled"] == .bool(false))
            let changed = try await admin.ask("accounts/main", method: "PATCH", #"{"card_enabled":true}"#)
            #expect(changed.status == 200 && changed.object["card_enabled"] == .bool(true))
            #expect(try AccountList(admin.directory.database).summary(of: .first, now: 1).hasCards)
            // Other settings leave it alone.
            let later = try await admin.ask("accounts/main", method: "PATCH", #"{"cap_this_month":5}"#)
            #expect(later.object["card_enabled"] == .bool(true))
        }
    }
}
