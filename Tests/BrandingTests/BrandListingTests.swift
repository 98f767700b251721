// SPDX-License-Identifier: Apache-2.0

import Branding
import SeededRandom
import Testing

@Suite("Brands in the order of a phonebook")
struct BrandListingTests {
    private func index(_ records: [(number: String, name: String)]) throws -> BrandIndex {
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 1, expectedCount: records.count)
        for record in records { builder.add(try self.record(record.number, record.name)) }
        return builder.finish()
    }

    private func record(_ number: String, _ name: String) throws -> BrandRecord {
        BrandRecord(
            number: try #require(E164Number(number)), name: name, brandID: name, logoURL: nil, callReason: nil,
            updatedAt: "2026-01-01T00:00:00Z")
    }

    @Test func `brands come by name, each with its numbers in order`() throws {
        let index = try index([
            ("+61255501009", "Zebra"), ("+61255501003", "Acme"), ("+61255501001", "Acme"), ("+61255501002", "Bank"),
        ])
        let brands = BrandListing(index, limit: 10).brands
        #expect(brands.map(\.name) == ["Acme", "Bank", "Zebra"])
        #expect(brands[0].numbers.map(\.description) == ["+61255501001", "+61255501003"])
    }

    @Test func `a limit keeps the first names, whatever the order of the records`() throws {
        var random = RepeatableRandom(seed: 7)
        let names = (100..<400).map { "Brand \($0)" }
        let records = names.shuffled(using: &random).enumerated().map { ("+6125550\(1000 + $0)", $1) }
        let listing = BrandListing(try index(records), limit: 25)
        #expect(listing.brands.map(\.name) == Array(names.prefix(25)))
        #expect(BrandListing(try index(records), limit: 0).brands.isEmpty)
    }

    @Test func `a changed index lists its changes`() throws {
        let first = try index([("+61255501001", "Acme"), ("+61255501002", "Bank"), ("+61255501003", "Clinic")])
        var change = BrandIndexChange(of: first, generation: 2)
        change.add(try record("+61255501002", "Dentist"))
        change.remove(try #require(E164Number("+61255501001")))
        let brands = BrandListing(change.finish(), limit: 10).brands
        #expect(brands.map(\.name) == ["Clinic", "Dentist"])
        #expect(brands[1].numbers.map(\.description) == ["+61255501002"])
    }
}
