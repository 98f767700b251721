// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Branding

@Suite("Brand index")
struct BrandIndexTests {
    static func number(_ digits: UInt64) throws -> E164Number { try #require(E164Number(digits: digits)) }

    static func record(_ digits: UInt64, _ name: String, at time: String = "2026-01-01T00:00:00Z") throws -> BrandRecord
    {
        BrandRecord(
            number: try Self.number(digits), name: name, brandID: "id-\(name)",
            logoURL: "https://logos.example/1.png", callReason: "Order", updatedAt: time)
    }

    static func name(of digits: UInt64, in index: BrandIndex) throws -> String? {
        index.entry(for: try Self.number(digits)).map { index.text(.name, $0) }
    }

    @Test func `the index finds 200,000 random numbers and no others`() throws {
        var random = RepeatableRandom(seed: 1)
        var model: [UInt64: String] = [:]
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1000)
        for _ in 0..<200_000 {
            let digits = UInt64.random(in: 1_000_000...999_999_999_999_999, using: &random)
            let name = "Brand \(digits % 1000)"
            model[digits] = name
            builder.add(try Self.record(digits, name))
        }
        let index = builder.finish()
        #expect(index.count == model.count)
        #expect(index.brandCount == 1000)
        let wrong = try model.filter { try Self.name(of: $0.key, in: index) != $0.value }
        #expect(wrong.isEmpty)
        var ghosts = 0
        for _ in 0..<200_000 {
            let digits = UInt64.random(in: 1_000_000...999_999_999_999_999, using: &random)
            let isFound = index.entry(for: try Self.number(digits)) != nil
            if isFound != (model[digits] != nil) { ghosts += 1 }
        }
        #expect(ghosts == 0)
    }

    @Test func `the index finds a block of consecutive numbers and not its neighbours`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 50_000)
        for digits in UInt64(61_255_500_000)..<61_255_550_000 { builder.add(try Self.record(digits, "Acme")) }
        let index = builder.finish()
        #expect(index.count == 50_000)
        #expect(index.brandCount == 1)
        let found = try (UInt64(61_255_499_000)..<61_255_551_000).count { try Self.name(of: $0, in: index) == "Acme" }
        #expect(found == 50_000)
    }

    @Test func `random additions and removals agree with a dictionary`() throws {
        var random = RepeatableRandom(seed: 2)
        var model: [UInt64: String] = [:]
        var change = BrandIndexChange(of: .empty(), generation: 1)
        for step in 0..<30_000 {
            // A small range of numbers, so that removals hit runs of neighbours in the table.
            let digits = 1_000_000 + UInt64.random(in: 0..<2000, using: &random)
            if Bool.random(using: &random) {
                model[digits] = "Brand \(step % 7)"
                change.add(try Self.record(digits, "Brand \(step % 7)"))
            } else {
                model[digits] = nil
                change.remove(try Self.number(digits))
            }
        }
        let index = change.finish()
        #expect(index.count == model.count)
        for digits in UInt64(1_000_000)..<1_002_000 { #expect(try Self.name(of: digits, in: index) == model[digits]) }
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "second"),
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "first"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "second"),
        ("2026-01-01T00:00:00.2Z", "2026-01-01T00:00:00.1Z", "first"),
        ("2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z", "second"),
        ("2026-01-01T00:00:00Z", "soon", "first"),
        ("soon", "later", "second"),
    ])
    func `the newer of two records for one number wins`(first: String, second: String, expected: String) throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1)
        builder.add(try Self.record(61_255_501_234, "first", at: first))
        builder.add(try Self.record(61_255_501_234, "second", at: second))
        let index = builder.finish()
        #expect(index.count == 1)
        #expect(try Self.name(of: 61_255_501_234, in: index) == expected)
    }

    @Test func `timestamps stay with their numbers when the table grows`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 0)
        for digits in UInt64(1_000_000)..<1_005_000 {
            builder.add(try Self.record(digits, "new", at: "2026-02-01T00:00:00Z"))
        }
        for digits in UInt64(1_000_000)..<1_005_000 { builder.add(try Self.record(digits, "old")) }
        let index = builder.finish()
        #expect(index.count == 5000)
        #expect(try (UInt64(1_000_000)..<1_005_000).allSatisfy { try Self.name(of: $0, in: index) == "new" })
    }

    @Test func `with unique numbers the last record wins, regardless of its timestamp`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1, numbersAreUnique: true)
        builder.add(try Self.record(61_255_501_234, "first", at: "2026-02-01T00:00:00Z"))
        builder.add(try Self.record(61_255_501_234, "second"))
        #expect(try Self.name(of: 61_255_501_234, in: builder.finish()) == "second")
    }

    @Test func `a newer record without a readable name removes the brand`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 3)
        builder.add(try Self.record(61_255_501_234, "\r\n"))
        builder.add(try Self.record(61_255_501_235, "Acme"))
        builder.add(try Self.record(61_255_501_235, " ", at: "2026-02-01T00:00:00Z"))
        builder.add(try Self.record(61_255_501_235, "Older"))
        builder.add(try Self.record(61_255_501_236, " "))
        builder.add(try Self.record(61_255_501_236, "Acme", at: "2026-02-01T00:00:00Z"))
        let index = builder.finish()
        #expect(index.count == 1)
        #expect(try Self.name(of: 61_255_501_234, in: index) == nil)
        #expect(try Self.name(of: 61_255_501_235, in: index) == nil)
        #expect(try Self.name(of: 61_255_501_236, in: index) == "Acme")
    }

    @Test func `records that differ in any field are different brands`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 5)
        var record = try Self.record(61_255_501_230, "Acme")
        for change: (inout BrandRecord) -> Void in [
            { _ in }, { $0.brandID = "other" }, { $0.logoURL = nil }, { $0.callReason = nil }, { $0.name = "Acme 2" },
            { _ in },
        ] {
            change(&record)
            builder.add(record)
            record.number = try Self.number(record.number.digits + 1)
        }
        let index = builder.finish()
        #expect(index.count == 6)
        #expect(index.brandCount == 5)
    }

    @Test(arguments: [true, false])
    func `brands above the memory limit are left out and earlier ones stay`(isUnique: Bool) throws {
        // A row and its fingerprint count as 64 bytes. A name of 1,000 bytes is cut to 64.
        var builder = BrandIndexBuilder(
            profile: .init(), generation: 1, expectedCount: 1, numbersAreUnique: isUnique, memoryLimit: 20_000)
        for number in UInt64(61_255_500_000)..<61_255_501_000 {
            let name = String(repeating: "\(number)", count: 100)
            builder.add(try Self.record(number, number % 2 == 0 ? "Acme" : name))
        }
        let index = builder.finish()
        #expect((20..<100).contains(index.brandCount))
        #expect(index.count == 500 + index.brandCount - 1)
        #expect(try Self.name(of: 61_255_500_998, in: index) == "Acme", "an existing brand needs no memory")
        #expect(!index.isFull, "the default limit is larger")
    }

    @Test func `brands without a readable name count towards the memory limit`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1, memoryLimit: 64 * 100)
        for number in UInt64(61_255_500_000)..<61_255_501_000 {
            var record = try Self.record(number, " ")
            record.brandID = "\(number)"
            builder.add(record)
        }
        builder.add(try Self.record(61_255_501_234, "Acme"))
        #expect(builder.finish().count == 0)
    }

    @Test func `an empty index finds nothing`() throws {
        let index = BrandIndex.empty(generation: 3)
        #expect(index.count == 0)
        #expect(index.brandCount == 0)
        #expect(index.generation == 3)
        #expect(try Self.name(of: 61_255_501_234, in: index) == nil)
    }

    @Test func `parts are appended to existing bytes`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 1)
        builder.add(try Self.record(61_255_501_234, "Acme \"A\""))
        let index = builder.finish()
        let entry = try #require(index.entry(for: try Self.number(61_255_501_234)))
        var out = Array("From: ".utf8)
        index.append(.quotedName, of: entry, to: &out)
        #expect(String(decoding: out, as: UTF8.self) == "From: \"Acme \\\"A\\\"\"")
        #expect(index.text(.name, entry) == "Acme \"A\"")
        #expect(index.text(.brandID, entry) == "id-Acme \"A\"")
        for part in BrandPart.allCases { #expect(index.length(of: part, entry) == index.text(part, entry).utf8.count) }
    }

    @Test func `an identifier is cut at 255 bytes and may be empty`() throws {
        var builder = BrandIndexBuilder(profile: .init(), generation: 1, expectedCount: 2)
        var record = try Self.record(61_255_501_234, "Acme")
        record.brandID = String(repeating: "é", count: 5000)
        builder.add(record)
        record.number = try Self.number(61_255_501_235)
        record.brandID = ""
        builder.add(record)
        let index = builder.finish()
        let long = try #require(index.entry(for: try Self.number(61_255_501_234)))
        let empty = try #require(index.entry(for: record.number))
        #expect(index.text(.brandID, long) == String(repeating: "é", count: 127))
        #expect(index.text(.brandID, empty).isEmpty)
        #expect(index.text(.name, empty) == "Acme")
    }
}
