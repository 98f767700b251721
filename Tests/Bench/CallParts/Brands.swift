// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Branding

/// Numbers spread over the whole plan, each of one of fifty thousand brands.
private enum Listed: Int, CaseIterable {
    case million = 1_000_000
    case tenMillion = 10_000_000

    /// Made when it is first asked for.
    var index: BrandIndex {
        switch self {
        case .million: indexOfMillion
        case .tenMillion: indexOfTenMillion
        }
    }

    /// A file in the current folder, where `Deploy/bench parts` keeps its data: on a disk, not in memory.
    var path: String { "brands-\(rawValue).index" }

    /// How many there are, as people write it.
    var words: String { self == .million ? "1,000,000 numbers" : "10,000,000 numbers" }

    func build() -> BrandIndex {
        var builder = BrandIndexBuilder(
            profile: .init(), generation: 1, expectedCount: rawValue, numbersAreUnique: true)
        for place in 0..<rawValue {
            guard let number = Self.number(place) else { continue }
            var record = brands[place % brands.count]
            record.number = number
            builder.add(record)
        }
        return builder.finish()
    }

    /// The index after `count` of its numbers, spread over all, have taken another brand.
    func changed(_ count: Int) -> BrandIndex {
        var change = BrandIndexChange(of: index, generation: 2)
        for turn in 0..<count {
            let place = turn * (rawValue / count)
            guard let number = Self.number(place) else { continue }
            var record = brands[(place + 1) % brands.count]
            record.number = number
            change.add(record)
        }
        return change.finish()
    }

    /// Even places of the sequence are in the index, odd ones are not.
    static func number(_ place: Int) -> E164Number? { E164Number(digits: spread(place &* 2)) }
    static func unlisted(_ place: Int) -> E164Number? { E164Number(digits: spread(place &* 2 + 1)) }

    /// A step prime to the size of the plan visits each number once.
    private static func spread(_ place: Int) -> UInt64 {
        12_000_000_000 + UInt64(place) &* 2_654_435_761 % 6_000_000_000
    }
}

private let indexOfMillion = Listed.million.build()
private let indexOfTenMillion = Listed.tenMillion.build()
/// As many changes over its table as there may be.
private let changedIndex = Listed.tenMillion.changed(300_000)

/// A record of each brand; ready before, so that building is all that is measured.
private let brands = (0..<50_000).compactMap { brand in
    Listed.number(brand).map { number in
        BrandRecord(
            number: number, name: "Harbour Insurance \(brand)", brandID: "b-\(brand)",
            logoURL: "https://logos.example/brands/\(brand)/icon.png", callReason: "Your appointment \(brand % 100)",
            updatedAt: "2026-01-01T00:00:00Z")
    }
}

/// Asking the index for a number, and making, saving and loading a whole one.
func brandBenchmarks() {
    for listed in Listed.allCases {
        lookups(listed, in: listed.index, of: listed.words)
        wholes(listed)
    }
    lookups(.tenMillion, in: changedIndex, of: "\(Listed.tenMillion.words), 300,000 changed")
}

private func lookups(_ listed: Listed, in index: @autoclosure @escaping () -> BrandIndex, of words: String) {
    // As in calls each is another number, and so many that neither they nor their places in the table are in the cache.
    let places = (0..<1 << 20).map { $0 &* 48_271 % listed.rawValue }
    let (hits, misses) = (places.compactMap(Listed.number), places.compactMap(Listed.unlisted))
    for (name, numbers) in [("listed", hits), ("unlisted", misses)] {
        Benchmark("lookup: \(name), of \(words)") { benchmark in
            let index = index()
            var place = benchmark.currentIteration * 1_000
            for _ in benchmark.scaledIterations {
                place += 1
                blackHole(index.entry(for: numbers[place & (1 << 20 - 1)]))
            }
        } setup: {
            let index = index()
            let found = numbers.count { index.entry(for: $0) != nil }
            precondition(found == (name == "listed" ? numbers.count : 0), "\(found) of \(name) numbers are found")
        }
    }
}

/// One index an iteration, not a thousand: `Deploy/bench parts` knows them by how their names begin.
private func wholes(_ listed: Listed) {
    let once = Benchmark.Configuration(
        metrics: [.wallClock], timeUnits: .nanoseconds, warmupIterations: 1, scalingFactor: .one,
        maxDuration: .seconds(30), maxIterations: 10)
    Benchmark("brand index: build, \(listed.words)", configuration: once) { benchmark in
        let index = listed.build()
        // What is given back afterwards does not count.
        benchmark.stopMeasurement()
        blackHole(index)
    } setup: {
        blackHole(brands)
    }
    Benchmark("brand index: 10,000 changes, \(listed.words)", configuration: once) { benchmark in
        let index = listed.changed(10_000)
        benchmark.stopMeasurement()
        blackHole(index)
    } setup: {
        blackHole(listed.index)
    }
    Benchmark("brand index: save with checksum, \(listed.words)", configuration: once) { _ in
        try listed.index.save(to: listed.path)
    } setup: {
        blackHole(listed.index)
    } teardown: {
        BrandIndex.removeSaved(at: listed.path)
    }
    Benchmark("brand index: load with checksum, \(listed.words)", configuration: once) { benchmark in
        let index = try BrandIndex.load(from: listed.path, generation: 1, profile: .init())
        benchmark.stopMeasurement()
        blackHole(index)
    } setup: {
        try listed.index.save(to: listed.path)
    } teardown: {
        BrandIndex.removeSaved(at: listed.path)
    }
}
