// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Branding

@Suite("Changes of a brand index")
struct BrandIndexChangeTests {
    private static func record(_ digits: UInt64, _ brand: Int) throws -> BrandRecord {
        BrandRecord(
            number: try BrandIndexTests.number(digits), name: "Brand \(brand)", brandID: "id-\(brand)",
            logoURL: brand % 3 == 0 ? nil : "https://logos.example/\(brand).png",
            callReason: brand % 2 == 0 ? nil : "Order \"\(brand)\"", updatedAt: "2026-01-01T00:00:00Z")
    }

    private static func build(_ records: [UInt64: BrandRecord], generation: Int64 = 1) -> BrandIndex {
        var builder = BrandIndexBuilder(
            profile: .init(), generation: generation, expectedCount: records.count, numbersAreUnique: true)
        for record in records.values { builder.add(record) }
        return builder.finish()
    }

    private static func parts(of digits: UInt64, in index: BrandIndex) throws -> [String]? {
        index.entry(for: try BrandIndexTests.number(digits)).map { entry in
            BrandPart.allCases.map { index.text($0, entry) }
        }
    }

    /// Limits of the delta table: always merged, sometimes merged, never merged.
    @Test(arguments: 1...8, [0, 1_200, .max])
    func `a changed index equals an index built from scratch`(seed: UInt64, deltaLimit: Int) throws {
        var random = RepeatableRandom(seed: seed)
        var records: [UInt64: BrandRecord] = [:]
        for _ in 0..<2000 {
            let digits = UInt64.random(in: 61_200_000_000..<61_200_006_000, using: &random)
            records[digits] = try Self.record(digits, Int.random(in: 0..<40, using: &random))
        }
        var index = Self.build(records)
        for round in 0..<12 {
            var change = BrandIndexChange(of: index, generation: Int64(round) + 2, deltaLimit: deltaLimit)
            // Rounds that mostly add, mostly remove, or do both. Brands appear and disappear.
            for _ in 0..<Int.random(in: 0..<900, using: &random) {
                let digits = UInt64.random(in: 61_200_000_000..<61_200_006_000, using: &random)
                if Int.random(in: 0..<3, using: &random) < round % 3 {
                    records[digits] = nil
                    change.remove(try BrandIndexTests.number(digits))
                } else {
                    let record = try Self.record(digits, Int.random(in: round * 5..<round * 5 + 40, using: &random))
                    records[digits] = record
                    change.add(record)
                }
            }
            index = change.finish()
            let fresh = Self.build(records)
            #expect(index.generation == Int64(round) + 2)
            #expect(index.count == fresh.count)
            if index.numbers.changes.count == 0 {
                #expect(index.brandCount == fresh.brandCount)
                #expect(index.brands.arena.count == fresh.brands.arena.count)
            } else {
                // Unused brands of the base table may stay until the next merge. Other unused brands and duplicates are
                // dropped.
                #expect(index.brandCount >= fresh.brandCount)
                #expect(index.brandCount <= fresh.brandCount + index.numbers.tableBrands)
            }
            let wrong = try (UInt64(61_200_000_000)..<61_200_006_000).filter {
                try Self.parts(of: $0, in: index) != Self.parts(of: $0, in: fresh)
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test(arguments: [0, 10])
    func `the original index is unchanged by a change`(deltaLimit: Int) throws {
        let records = [UInt64(61_255_500_000): try Self.record(61_255_500_000, 1)]
        let before = Self.build(records)
        var change = BrandIndexChange(of: before, generation: 2, deltaLimit: deltaLimit)
        change.add(try Self.record(61_255_500_000, 2))
        change.add(try Self.record(61_255_500_001, 3))
        let after = change.finish()
        #expect(try BrandIndexTests.name(of: 61_255_500_000, in: before) == "Brand 1")
        #expect(try BrandIndexTests.name(of: 61_255_500_001, in: before) == nil)
        #expect(try BrandIndexTests.name(of: 61_255_500_000, in: after) == "Brand 2")
        #expect(after.brandCount == (deltaLimit == 0 ? 2 : 3))
    }

    @Test func `adding and removing a number leaves the delta table empty`() throws {
        let listed = UInt64(61_255_500_000)
        let added = UInt64(61_255_500_001)
        let before = Self.build([listed: try Self.record(listed, 1)])
        var change = BrandIndexChange(of: before, generation: 2, deltaLimit: 10)
        change.add(try Self.record(added, 2))
        change.remove(try BrandIndexTests.number(listed))
        let between = change.finish()
        #expect(between.count == 1)
        #expect(try BrandIndexTests.name(of: listed, in: between) == nil)
        #expect(try BrandIndexTests.name(of: added, in: between) == "Brand 2")
        change = BrandIndexChange(of: between, generation: 3, deltaLimit: 10)
        change.remove(try BrandIndexTests.number(added))
        change.remove(try BrandIndexTests.number(added))
        change.add(try Self.record(listed, 1))
        let after = change.finish()
        #expect(after.count == 1)
        #expect(after.numbers.changes.count == 1)
        #expect(try BrandIndexTests.name(of: listed, in: after) == "Brand 1")
        #expect(try BrandIndexTests.name(of: added, in: after) == nil)
    }

    @Test func `brands that changes no longer use are dropped`() throws {
        let listed = UInt64(61_255_500_000)
        var index = Self.build([listed: try Self.record(listed, 1)])
        // One number changes its brand with every sync. The delta table keeps one entry.
        for round in 2..<200 {
            var change = BrandIndexChange(of: index, generation: Int64(round), deltaLimit: 10)
            change.add(try Self.record(listed, round))
            index = change.finish()
            #expect(try BrandIndexTests.name(of: listed, in: index) == "Brand \(round)")
        }
        #expect(index.numbers.changes.count == 1)
        #expect(index.brandCount == 2)
    }

    @Test func `changes to an empty index keep their brands`() throws {
        var change = BrandIndexChange(of: .empty(), generation: 1, deltaLimit: 10)
        for digits in UInt64(61_255_500_000)..<61_255_500_003 { change.add(try Self.record(digits, Int(digits % 10))) }
        let index = change.finish()
        #expect(index.numbers.changes.count == 3)
        #expect(index.brandCount == 3)
        #expect(try BrandIndexTests.name(of: 61_255_500_002, in: index) == "Brand 2")
    }

    @Test(arguments: [(0, 0), (131_071, 0), (131_072, 4_096), (10_000_000, 312_500)])
    func `the delta table of a large index grows up to 1/32 of the base table`(count: Int, deltaLimit: Int) {
        #expect(BrandedNumbers.deltaLimit(for: count) == deltaLimit)
    }

    @Test func `a saved delta that removes an absent number is rejected`() {
        var table = NumberTable(expectedCount: 2)
        table.put(0, under: 61_255_500_000, in: table.slot(for: 61_255_500_000).slot)
        var changes = NumberTable(expectedCount: 2)
        changes.put(BrandedNumbers.gone, under: 61_255_500_001, in: changes.slot(for: 61_255_500_001).slot)
        #expect(BrandedNumbers(table, brands: 1, changes: changes, count: 1) == nil)
        changes.put(0, under: 61_255_500_001, in: changes.slot(for: 61_255_500_001).slot)
        #expect(BrandedNumbers(table, brands: 1, changes: changes, count: 2) != nil)
        #expect(BrandedNumbers(table, brands: 1, changes: changes, count: 1) == nil)
    }

    @Test func `a record without a displayable name removes the number`() throws {
        let digits = UInt64(61_255_500_000)
        var change = BrandIndexChange(of: Self.build([digits: try Self.record(digits, 1)]), generation: 2)
        var nameless = try Self.record(digits, 1)
        nameless.name = "\u{200B}"
        change.add(nameless)
        let index = change.finish()
        #expect(index.count == 0)
        #expect(index.brandCount == 0)
    }

    @Test func `a few more numbers do not double the table`() throws {
        var records: [UInt64: BrandRecord] = [:]
        for digits in UInt64(61_255_000_000)..<61_255_020_000 { records[digits] = try Self.record(digits, 1) }
        let before = Self.build(records)
        var change = BrandIndexChange(of: before, generation: 2)
        for digits in UInt64(61_255_020_000)..<61_255_021_000 { change.add(try Self.record(digits, 1)) }
        let after = change.finish()
        #expect(after.count == 21_000)
        #expect(after.memory < before.memory * 11 / 10)
    }
}
