// SPDX-License-Identifier: Apache-2.0

import Branding

/// The records of one answer, in ascending order of number, each number once: of several the newest.
struct BrandCacheIncoming: Sendable {
    private let records: [BrandRecord]
    private let order: [Int]

    init(_ records: [BrandRecord]) {
        self.records = records
        var order = Array(records.indices)
        let sorted = zip(records, records.dropFirst()).allSatisfy { $0.number < $1.number }
        if !sorted {
            // Position breaks ties, so that of two equally old records the one that came later stands last.
            order.sort { (records[$0].number, $0) < (records[$1].number, $1) }
            order = Self.newest(order, of: records)
        }
        self.order = order
    }

    var count: Int { order.count }

    subscript(position: Int) -> BrandRecord { records[order[position]] }

    private static func newest(_ order: [Int], of records: [BrandRecord]) -> [Int] {
        var kept: [Int] = []
        kept.reserveCapacity(order.count)
        for next in order {
            guard let last = kept.last, records[last].number == records[next].number else {
                kept.append(next)
                continue
            }
            if UpdateTime(records[last].updatedAt) <= UpdateTime(records[next].updatedAt) {
                kept[kept.count - 1] = next
            }
        }
        return kept
    }
}
