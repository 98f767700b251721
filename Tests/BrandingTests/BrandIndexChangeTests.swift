// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("An index brought up to date by what changed")
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

    @Test(arguments: 1...8)
    func `after any changes it says what an index built anew says`(seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        var records: [UInt64: BrandRecord] = [:]
        for _ in 0..<2000 {
            let digits = UInt64.random(in: 61_200_000_000..<61_200_006_000, using: &random)
            records[digits] = try Self.record(digits, Int.random(in: 0..<40, using: &random))
        }
        var index = Self.build(records)
        for round in 0..<12 {
            var builder = BrandIndexBuilder(changing: index, generation: Int64(round) + 2)
            // Rounds that mostly add, mostly remove, and do both; brands come and go.
            for _ in 0..<Int.random(in: 0..<900, using: &random) {
                let digits = UInt64.random(in: 61_200_000_000..<61_200_006_000, using: &random)
                if Int.random(in: 0..<3, using: &random) < round % 3 {
                    records[digits] = nil
                    builder.remove(try BrandIndexTests.number(digits))
                } else {
                    let record = try Self.record(digits, Int.random(in: round * 5..<round * 5 + 40, using: &random))
                    records[digits] = record
                    builder.add(record)
                }
            }
            index = builder.finish()
            let fresh = Self.build(records)
            #expect(index.generation == Int64(round) + 2)
            #expect(index.count == fresh.count)
            #expect(index.brandCount == fresh.brandCount)
            #expect(index.brands.arena.count == fresh.brands.arena.count)
            let wrong = try (UInt64(61_200_000_000)..<61_200_006_000).filter {
                try Self.parts(of: $0, in: index) != Self.parts(of: $0, in: fresh)
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test func `the index it was made from stays as it was`() throws {
        let records = [UInt64(61_255_500_000): try Self.record(61_255_500_000, 1)]
        let before = Self.build(records)
        var builder = BrandIndexBuilder(changing: before, generation: 2)
        builder.add(try Self.record(61_255_500_000, 2))
        builder.add(try Self.record(61_255_500_001, 3))
        let after = builder.finish()
        #expect(try BrandIndexTests.name(of: 61_255_500_000, in: before) == "Brand 1")
        #expect(try BrandIndexTests.name(of: 61_255_500_001, in: before) == nil)
        #expect(try BrandIndexTests.name(of: 61_255_500_000, in: after) == "Brand 2")
        #expect(after.brandCount == 2)
    }

    @Test func `a record whose name cannot be shown takes the number out`() throws {
        let digits = UInt64(61_255_500_000)
        var builder = BrandIndexBuilder(
            changing: Self.build([digits: try Self.record(digits, 1)]), generation: 2)
        var nameless = try Self.record(digits, 1)
        nameless.name = "\u{200B}"
        builder.add(nameless)
        let index = builder.finish()
        #expect(index.count == 0)
        #expect(index.brandCount == 0)
    }

    @Test func `a few more numbers cost a few more bytes, not another doubling`() throws {
        var records: [UInt64: BrandRecord] = [:]
        for digits in UInt64(61_255_000_000)..<61_255_020_000 { records[digits] = try Self.record(digits, 1) }
        let before = Self.build(records)
        var builder = BrandIndexBuilder(changing: before, generation: 2)
        for digits in UInt64(61_255_020_000)..<61_255_021_000 { builder.add(try Self.record(digits, 1)) }
        let after = builder.finish()
        #expect(after.count == 21_000)
        #expect(after.memory < before.memory * 11 / 10)
    }
}
