// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Branding

/// One million numbers of fifty thousand brands.
private let index: BrandIndex = {
    var builder = BrandIndexBuilder(
        profile: .init(), generation: 1, expectedCount: Listed.count, numbersAreUnique: true)
    for place in 0..<Listed.count {
        guard let number = Listed.number(place) else { continue }
        let brand = place % 50_000
        builder.add(
            BrandRecord(
                number: number, name: "Harbour Insurance \(brand)", brandID: "b-\(brand)",
                logoURL: "https://logos.example/brands/\(brand)/icon.png", updatedAt: "2026-01-01T00:00:00Z"))
    }
    return builder.finish()
}()

/// Numbers spread over the whole plan; even places are in the index, odd ones are not.
private enum Listed {
    static let count = 1_000_000
    static func number(_ place: Int) -> E164Number? { E164Number(digits: spread(place &* 2)) }
    static func unlisted(_ place: Int) -> E164Number? { E164Number(digits: spread(place &* 2 + 1)) }

    /// A step prime to the size of the plan visits each number once.
    private static func spread(_ place: Int) -> UInt64 {
        12_000_000_000 + UInt64(place) &* 2_654_435_761 % 6_000_000_000
    }
}

/// Reading what a trunk calls a number, and looking it up.
func numberBenchmarks() {
    let normaliser = NumberNormaliser(region: Region("US"))
    for (name, text) in [("+digits", "+12025550123"), ("national", "(202) 555-0123"), ("no number", "anonymous")] {
        let bytes = Array(text.utf8)
        Benchmark("normaliser: \(name)") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(normaliser.normalise(bytes)) }
        }
    }

    // As in calls, each from another number, so the table's memory is not in the cache by chance.
    let hits = (0..<65_536).compactMap { Listed.number($0 &* 48_271 % Listed.count) }
    let misses = (0..<65_536).compactMap { Listed.unlisted($0 &* 48_271 % Listed.count) }
    for (name, numbers) in [("listed", hits), ("unlisted", misses)] {
        Benchmark("lookup: \(name), of 1,000,000") { benchmark in
            var place = benchmark.currentIteration * 1_000
            for _ in benchmark.scaledIterations {
                place += 1
                blackHole(index.entry(for: numbers[place & 65_535]))
            }
        } setup: {
            blackHole(index.entry(for: hits[0]))
        }
    }
}
