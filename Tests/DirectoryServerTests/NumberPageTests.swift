// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import Foundation
import TestFixtures
import Testing
import WebPages

@testable import DirectoryServer
@testable import DirectoryStore

/// The page of numbers, used as a person does: add and remove.
@Suite("The page of numbers", .timeLimit(.minutes(8)), .bothEngines)
struct NumberPageTests {
    private static let path = "/accounts/main/numbers"
    private static let add = "/accounts/main/numbers/add"

    /// Brands without numbers, by identifier and name.
    private static func run(
        _ names: KeyValuePairs<String, String> = ["acme": "Acme Bank", "acres": "Acme Acres"],
        _ body: @escaping @Sendable (PageVisitor, BrandList) async throws -> Void
    ) async throws {
        let brands = names.map { ($0.key, $0.value) }
        try await PageVisitor.run { visitor in
            let list = BrandList(visitor.directory.database)
            for (id, name) in brands {
                var change = BrandList.Change()
                change.name = name
                try list.create(id: id, change, now: visitor.directory.time.now)
            }
            try await body(visitor, list)
        }
    }

    @Test(arguments: ["acme", "Acme Bank", "acme bank", "Bank"])
    func `numbers are added for a brand that is typed`(brand: String) async throws {
        try await Self.run { visitor, brands in
            let page = try await visitor.get(Self.path)
            #expect(page.text.contains("<option value=\"acres\"></option>"))
            let added = try await visitor.submit(
                page, Self.add, ["brand": brand, "numbers": "+61491570156\n0491 570 157", "region": "AU"])
            let after = try await visitor.follow(added)
            #expect(after.text.contains("2 numbers ring as Acme Bank from the next sync on."))
            #expect(after.text.contains("+61******156") && after.text.contains("+61******157"))
            #expect(try brands.brand("acme").numbers == 2)
            #expect(try brands.brand("acres").numbers == 0)
        }
    }

    @Test(arguments: [
        ("", "Write the name or the identifier of a brand."), ("Nobody", "No brand has this"),
        ("Acm", "Several brands have this, such as acme, acres. Write the identifier of one."),
    ])
    func `a brand that is not certain keeps the lines and adds nothing`(brand: String, problem: String) async throws {
        try await Self.run { visitor, brands in
            let refused = try await visitor.submit(
                try await visitor.get(Self.path), Self.add, ["brand": brand, "numbers": "+61491570156"])
            #expect(refused.status == 422)
            #expect(refused.problem("brand")?.hasPrefix(problem) == true, "\(refused.problem("brand") ?? "none")")
            let fields = try #require(PageFields(refused.text, action: Self.add))
            #expect(fields["numbers"] == "+61491570156" && fields["brand"] == brand)
            #expect(try brands.brand("acme").numbers == 0)
            let rest = try await visitor.submit(refused, Self.add, ["brand": "acme"])
            #expect(try await visitor.follow(rest).text.contains("rings as Acme Bank"))
        }
    }

    @Test func `valid lines are added, and the others stay in the form`() async throws {
        try await Self.run { visitor, brands in
            let partly = try await visitor.submit(
                try await visitor.get(Self.path), Self.add, ["brand": "acres", "numbers": "+61491570156\n<b>\n"])
            #expect(partly.status == 422 && partly.text.contains("1 line was not added"))
            let fields = try #require(PageFields(partly.text, action: Self.add))
            #expect(fields["numbers"] == "<b>" && fields["brand"] == "acres")
            #expect(!partly.text.contains("<b>"))
            #expect(try brands.brand("acres").numbers == 1)
        }
    }

    @Test func `without a brand the page leads to the first one`() async throws {
        try await Self.run([:]) { visitor, _ in
            let page = try await visitor.get(Self.path)
            #expect(PageFields(page.text, action: Self.add) == nil)
            #expect(page.text.contains("<a href=\"/accounts/main/new-brand\">Add a brand first</a>"))
            let refused = try await visitor.post(Self.add, ["brand": "acme", "numbers": "+61491570156"])
            #expect(refused.status == 422)
        }
    }

    @Test func `a brand of another account gets no number`() async throws {
        try await Self.run { visitor, brands in
            _ = try AccountList(visitor.directory.database).create(name: "second", now: 1)
            let refused = try await visitor.post(
                "/accounts/second/numbers/add", ["brand": "acme", "numbers": "+61491570156"])
            #expect(refused.status == 422 && refused.text.contains("Add a brand first"))
            #expect(try brands.brand("acme").numbers == 0)
        }
    }

    @Test func `one sentence leads to the buttons that remove numbers`() async throws {
        try await Self.run { visitor, brands in
            try visitor.directory.put("+61491570156", "+61491570157", name: "Other")
            let masked = try await visitor.get(Self.path).text
            #expect(masked.components(separatedBy: "Show numbers adds a button").count == 2)
            #expect(!masked.contains(">Action<") && !masked.contains("/numbers/remove"))
            _ = try await visitor.post("/numbers")
            let whole = try await visitor.get(Self.path)
            #expect(!whole.text.contains("Show numbers adds"))
            let removed = try await visitor.submit(whole, "/accounts/main/numbers/remove")
            #expect(try await visitor.follow(removed).text.contains("is removed: it rings without a brand"))
        }
    }
}
