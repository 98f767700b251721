// SPDX-License-Identifier: Apache-2.0

/// Builds a brand index from records, one record at a time. Holds only the data that the index keeps. Not thread-safe.
public struct BrandIndexBuilder: Sendable {
    private let profile: RenderingProfile
    private let generation: Int64
    private var table: NumberTable
    private var rendering: BrandRendering
    /// The `updated_at` of the record in each slot; empty if every number is added once.
    private var times: [UpdateTime] = []
    /// Numbers whose newest record has no displayable name. `finish` removes them.
    private var nameless: Set<E164Number> = []

    /// Starts an index.
    ///
    /// - Parameters:
    ///   - generation: sequence number of the records, kept in saved files.
    ///   - expectedCount: the expected number of records. A smaller value costs a rebuild of the table; a larger one
    ///     wastes memory.
    ///   - numbersAreUnique: true if no number is added twice. Saves eight bytes per slot during the build.
    ///   - memoryLimit: the memory limit of the brands in bytes; 2 GiB by default. Further brands are left out together with
    ///     their numbers.
    public init(
        profile: RenderingProfile, generation: Int64, expectedCount: Int, numbersAreUnique: Bool = false,
        memoryLimit: Int? = nil
    ) {
        self.profile = profile
        self.generation = generation
        rendering = BrandRendering(profile, memoryLimit: memoryLimit ?? RenderedBrands.memoryLimit)
        table = NumberTable(expectedCount: expectedCount)
        if !numbersAreUnique { times = Array(repeating: .never, count: table.keys.count) }
    }

    /// Adds a record. For one number the record with the newest `updatedAt` wins; of equal ones the last.
    public mutating func add(_ record: BrandRecord) {
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

    /// Finishes the index. Reads the table once.
    public consuming func finish() -> BrandIndex {
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
    /// Returns an index without records, for use before the first sync.
    public static func empty(profile: RenderingProfile = .init(), generation: Int64 = 0) -> BrandIndex {
        BrandIndexBuilder(profile: profile, generation: generation, expectedCount: 0).finish()
    }
}
