// SPDX-License-Identifier: Apache-2.0

/// Builds an index from records one at a time, keeping only what the index keeps.
///
/// Not for several threads at once.
package struct BrandIndexBuilder: Sendable {
    private let profile: RenderingProfile
    private let generation: Int64
    private var table: NumberTable
    private var rendering: BrandRendering
    /// Time of the record in each slot; empty when numbers come once each.
    private var times: [UpdateTime] = []
    /// Numbers whose newest record has no name to show; they are taken out at the end.
    private var nameless: Set<E164Number> = []

    /// Starts an index.
    ///
    /// - Parameters:
    ///   - generation: the change of records it stands for, kept in saved files.
    ///   - expectedCount: how many numbers will come; more cost a rebuild of the table, fewer leave it larger.
    ///   - numbersAreUnique: no number is added twice, so their times need not be kept (eight bytes each meanwhile).
    ///   - room: bytes the brands may take, two gigabytes unless a test says otherwise; numbers of further ones are left out.
    package init(
        profile: RenderingProfile, generation: Int64, expectedCount: Int, numbersAreUnique: Bool = false,
        room: Int? = nil
    ) {
        self.profile = profile
        self.generation = generation
        rendering = BrandRendering(profile, room: room ?? RenderedBrands.room)
        table = NumberTable(expectedCount: expectedCount)
        if !numbersAreUnique { times = Array(repeating: .never, count: table.keys.count) }
    }

    /// Files a record; of two for one number the one with the newer `updatedAt` stays, of equally old ones the later.
    package mutating func add(_ record: BrandRecord) {
        let brand = rendering.position(of: record)
        if times.isEmpty, brand == nil { return }
        if table.isFull { resize(to: max(table.count * 2, 1024)) }
        let (slot, isFilled) = table.slot(for: record.number.digits)
        if !times.isEmpty {
            let time = UpdateTime(record.updatedAt)
            guard !isFilled || time >= times[slot] else { return }
            times[slot] = time
        }
        table.put(brand ?? 0, under: record.number.digits, in: slot)
        if brand == nil {
            nameless.insert(record.number)
        } else if !nameless.isEmpty {
            nameless.remove(record.number)
        }
    }

    /// The finished index; takes about as long as looking at it once.
    package consuming func finish() -> BrandIndex {
        times = []
        for number in nameless { table.remove(number.digits) }
        if table.isTooLarge { table = table.resized(to: table.count) }
        return BrandIndex(
            generation: generation, profile: profile,
            numbers: BrandedNumbers(table, brands: rendering.brands.rows.count), brands: rendering.brands)
    }

    private mutating func resize(to count: Int) {
        let old = times
        if !old.isEmpty { times = Array(repeating: .never, count: NumberTable.capacity(for: count)) }
        table = table.resized(to: count) { source, destination in
            if !old.isEmpty { times[destination] = old[source] }
        }
    }
}

extension BrandIndex {
    /// An index without a record, for the time before the first sync.
    package static func empty(profile: RenderingProfile = .init(), generation: Int64 = 0) -> BrandIndex {
        BrandIndexBuilder(profile: profile, generation: generation, expectedCount: 0).finish()
    }
}
