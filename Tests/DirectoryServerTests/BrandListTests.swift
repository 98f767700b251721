// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Brands and their numbers", .timeLimit(.minutes(8)), .bothEngines)
struct BrandListTests {
    private static func change(_ edit: (inout BrandList.Change) -> Void) -> BrandList.Change {
        var change = BrandList.Change()
        edit(&change)
        return change
    }

    private static func numbers(_ range: ClosedRange<UInt64>) throws -> [E164Number] {
        try range.map { try #require(E164Number(digits: 61_491_570_000 + $0)) }
    }

    /// A brand `acme` with numbers, in a running directory.
    private static func run(
        _ body: @escaping @Sendable (RunningDirectory, BrandList, BrandNumbers) async throws -> Void
    ) async throws {
        try await RunningDirectory.run { directory in
            let brands = BrandList(directory.database)
            let numbers = BrandNumbers(directory.database)
            try brands.create(
                id: "acme", change { ($0.name, $0.reason) = ("Acme", "Hello") }, now: directory.time.now)
            for number in try Self.numbers(1...3) {
                try numbers.set(number, brandID: "acme", reason: nil, now: directory.time.now)
            }
            try await body(directory, brands, numbers)
        }
    }

    @Test func `a new name reaches every number of the brand once, and no other`() async throws {
        try await Self.run { directory, brands, numbers in
            try directory.put("+61491579999", name: "Other")
            let before = try await directory.sync()
            let response = try brands.change("acme", Self.change { $0.name = "Acme Bank" }, now: directory.time.now)
            #expect(response.numbers == 3)
            let after = try await directory.sync(since: before.syncedAt)
            #expect(after.branding.map(\.phoneNumber) == ["+61491570001", "+61491570002", "+61491570003"])
            #expect(after.branding.allSatisfy { $0.brandName == "Acme Bank" && $0.callReason == "Hello" })
            #expect(try await directory.sync(since: after.syncedAt).branding.isEmpty)
            _ = try brands.change("acme", Self.change { $0.name = "Acme Bank" }, now: directory.time.now)
            #expect(try await directory.sync(since: after.syncedAt).branding.isEmpty)
        }
    }

    @Test func `a change of a brand that another person has changed is refused`() async throws {
        try await Self.run { directory, brands, _ in
            let version = VersionCondition.from(try brands.brand("acme").version.text)
            let now = directory.time.now
            // In the same second, with no new number.
            _ = try brands.change("acme", Self.change { $0.name = "First" }, if: version, now: now)
            #expect(throws: VersionConflict.self) {
                try brands.change("acme", Self.change { $0.name = "Second" }, if: version, now: now)
            }
            #expect(try brands.brand("acme").name == "First")
            _ = try brands.change(
                "acme", Self.change { $0.name = "Second" }, if: .from(try brands.brand("acme").version.text), now: now)
            #expect(try brands.brand("acme").name == "Second")
            // A number more is no change of the brand.
            let before = try brands.brand("acme").version
            try directory.put("+61491579998", name: "Other")
            #expect(try brands.brand("acme").version == before)
        }
    }

    @Test func `many numbers are assigned at once, and those of other brands are returned`() async throws {
        try await Self.run { directory, brands, numbers in
            try brands.create(id: "other", Self.change { $0.name = "Other" }, now: directory.time.now)
            let moved = try numbers.set(
                try Self.numbers(2...500), brandID: "other", reason: "Own", now: directory.time.now)
            #expect(moved.map(\.brandID) == ["acme", "acme"])
            #expect(try brands.brand("other").numbers == 499 && brands.brand("acme").numbers == 1)
            #expect(try numbers.set(try Self.numbers(2...3), brandID: "other", reason: nil, now: 1).isEmpty)
            #expect(throws: BrandListError.unknown("none")) {
                try numbers.set(try Self.numbers(1...1), brandID: "none", reason: nil, now: 1)
            }
        }
    }

    @Test func `a call reason of a number's own stays when the brand's changes`() async throws {
        try await Self.run { directory, brands, numbers in
            let own = try #require(try Self.numbers(1...1).first)
            try numbers.set(own, brandID: "acme", reason: "Own", now: directory.time.now)
            _ = try brands.change("acme", Self.change { $0.reason = "" }, now: directory.time.now)
            #expect(try numbers.page(after: nil, limit: 9).map(\.reason) == ["Own", nil, nil])
        }
    }

    @Test(arguments: [
        (BrandList.Owner.suspended, "owner_suspended"), (BrandList.Owner.unresolved, "owner_unresolved"),
    ])
    func `an owner that is not active takes its numbers from clients`(
        owner: BrandList.Owner, reason: String
    ) async throws {
        try await Self.run { directory, brands, numbers in
            let before = try await directory.sync()
            let third = try Self.numbers(3...3)
            #expect(try numbers.deactivate(third, now: directory.time.now) == 1)
            _ = try brands.change("acme", Self.change { $0.owner = owner }, now: directory.time.now)
            let gone = try await directory.sync(since: before.syncedAt)
            #expect(gone.branding.allSatisfy { $0.isActive == false })
            #expect(Set(gone.branding.map(\.phoneNumber)).count == 3 && gone.branding.count == 3)
            #expect(try await directory.sync().branding.isEmpty)
            #expect(try await directory.report("displayed", number: "+61491570001").reason == reason)
            #expect(try await directory.report("displayed", number: "+61491570003").reason == "no_match")
            _ = try brands.change("acme", Self.change { $0.owner = .active }, now: directory.time.now)
            let back = try await directory.sync(since: gone.syncedAt)
            #expect(back.branding.map(\.phoneNumber) == ["+61491570001", "+61491570002"])
            #expect(try numbers.page(after: nil, limit: 9).map(\.state) == [.active, .active, .inactive])
        }
    }

    @Test func `a number given to a held brand is held too`() async throws {
        try await Self.run { directory, brands, numbers in
            _ = try brands.change("acme", Self.change { $0.owner = .suspended }, now: directory.time.now)
            try numbers.set(
                try #require(try Self.numbers(7...7).first), brandID: "acme", reason: nil, now: directory.time.now)
            #expect(try numbers.page(after: nil, limit: 9, state: .held).count == 4)
            #expect(try await directory.sync().branding.isEmpty)
        }
    }

    @Test func `brands are taken out of use together or not at all`() async throws {
        try await Self.run { directory, brands, numbers in
            let time = directory.time.now
            #expect(throws: BrandListError.unknown("nobody")) { try brands.deactivate(["acme", "nobody"], now: time) }
            let untouched = try await directory.sync()
            #expect(untouched.branding.count == 3)
            let counts = [try brands.deactivate(["acme"], now: time), try brands.deactivate(["acme"], now: time)]
            #expect(counts == [3, 0])
            let emptied = try await directory.sync()
            #expect(emptied.branding.isEmpty)
            let brand = try brands.brand("acme")
            #expect(brand.numbers == 0)
        }
    }

    @Test func `a feed read while brands change skips nothing and repeats nothing`() async throws {
        try await Self.run { directory, brands, numbers in
            var cursor = try await directory.sync().syncedAt
            var names: [String: [String]] = [:]
            for round in 1...5 {
                _ = try brands.change("acme", Self.change { $0.name = "Name \(round)" }, now: directory.time.now)
                let sync = try await directory.sync(since: cursor)
                cursor = sync.syncedAt
                for item in sync.branding { names[item.phoneNumber, default: []].append(item.brandName ?? "") }
            }
            #expect(names.count == 3)
            #expect(names.values.allSatisfy { $0 == (1...5).map { "Name \($0)" } })
        }
    }

    @Test func `numbers are paged in their order, by brand and by state`() async throws {
        try await Self.run { directory, brands, numbers in
            try directory.put("+61491570000")
            let first = try numbers.page(after: nil, limit: 2)
            #expect(first.map(\.number) == ["+61491570000", "+61491570001"])
            let rest = try numbers.page(after: E164Number("+61491570001"), limit: 9)
            #expect(rest.map(\.number) == ["+61491570002", "+61491570003"])
            #expect(try numbers.page(after: nil, limit: 9, brandID: "acme").count == 3)
            #expect(try brands.page(after: nil, limit: 1).map(\.id) == ["acme"])
            #expect(try brands.page(after: "acme", limit: 9).map(\.id) == ["brand-1"])
        }
    }

    @Test func `fields beyond the contract's limits are refused`() throws {
        let folder = TemporaryFolder()
        let brands = BrandList(try Engine.open(folder.path))
        let long = String(repeating: "n", count: 201)
        for change in [
            Self.change { $0.name = "" }, Self.change { $0.name = long },
            Self.change { ($0.name, $0.reason) = ("A", long) },
            Self.change { ($0.name, $0.logo) = ("A", "javascript:alert(1)") },
            Self.change { $0.name = "A\u{7}" }, Self.change { $0.name = nil },
        ] {
            #expect(throws: BrandListError.self) { try brands.create(id: "a", change, now: 1) }
        }
        #expect(throws: BrandListError.self) { try brands.create(id: long, Self.change { $0.name = "A" }, now: 1) }
        try brands.create(id: nil, Self.change { $0.name = "Acme & Sons" }, now: 1)
        #expect(throws: BrandListError.taken("acme-sons")) {
            try brands.create(id: nil, Self.change { $0.name = "Acme, Sons" }, now: 1)
        }
    }
}
