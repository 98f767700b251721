// SPDX-License-Identifier: Apache-2.0

/// Builds an index from records one at a time, keeping only what the index keeps.
///
/// Records of one brand (same name, identifier, logo and reason) are rendered once. Not for several threads at once.
package struct BrandIndexBuilder: Sendable {
    private let profile: RenderingProfile
    private let generation: Int64
    private var table: NumberTable
    private var brands = RenderedBrands()
    private var brandOf: [BrandFingerprint: UInt32] = [:]
    /// Time of the record in each slot; empty when numbers come once each.
    private var times: [UpdateTime] = []
    /// Numbers whose newest record has no name to show; they are taken out at the end.
    private var nameless: Set<E164Number> = []
    /// Brands of the index this one is made from, which come first; zero when it is built anew.
    private let oldBrands: Int

    /// Records added that cannot be shown, because nothing readable is in their name.
    package private(set) var refused = 0

    /// Starts an index.
    ///
    /// - Parameters:
    ///   - generation: the change of records it stands for, kept in saved files.
    ///   - expectedCount: how many numbers will come; more cost a rebuild of the table, fewer leave it larger.
    ///   - numbersAreUnique: no number is added twice, so their times need not be kept (eight bytes each meanwhile).
    package init(
        profile: RenderingProfile, generation: Int64, expectedCount: Int, numbersAreUnique: Bool = false
    ) {
        self.profile = profile
        self.generation = generation
        oldBrands = 0
        table = NumberTable(expectedCount: expectedCount)
        if !numbersAreUnique { times = Array(repeating: .never, count: table.keys.count) }
    }

    /// Starts from another index: what is added or removed replaces what it says of a number, the rest stays.
    ///
    /// Costs a copy of the table, some ten milliseconds a million numbers; the other index stays as it is. Times are not
    /// looked at: each number comes once, as the cache has it now.
    package init(changing index: BrandIndex, generation: Int64) {
        profile = index.profile
        self.generation = generation
        table = index.table
        brands = index.brands
        oldBrands = index.brandCount
    }

    /// Files a record; of two for one number the one with the newer `updatedAt` stays, of equally old ones the later.
    package mutating func add(_ record: BrandRecord) {
        // A copy that is too small by a few numbers must not become twice as large.
        if table.isFull { grow(to: oldBrands > 0 ? table.count + table.count / 32 : table.count * 2) }
        let (slot, isFilled) = table.slot(for: record.number.digits)
        if !times.isEmpty {
            let time = UpdateTime(record.updatedAt)
            guard !isFilled || time >= times[slot] else { return }
            times[slot] = time
        }
        let brand = brand(of: record)
        table.put(brand ?? 0, under: record.number.digits, in: slot)
        if brand == nil {
            refused += 1
            nameless.insert(record.number)
        } else if !nameless.isEmpty {
            nameless.remove(record.number)
        }
    }

    /// Takes a number out; nothing happens when it is not there.
    package mutating func remove(_ number: E164Number) {
        let (slot, isFilled) = table.slot(for: number.digits)
        guard isFilled else { return }
        nameless.remove(number)
        var moves: [(Int, Int)] = []
        table.remove(at: slot) { moves.append(($0, $1)) }
        guard !times.isEmpty else { return }
        for (source, destination) in moves { times[destination] = times[source] }
    }

    /// The finished index; takes about as long as looking at it once.
    package consuming func finish() -> BrandIndex {
        for number in nameless { remove(number) }
        times = []
        if table.keys.count > NumberTable.capacity(for: table.count) * 5 / 4 { grow(to: table.count) }
        if oldBrands > 0 {
            let isUsed = table.marks(below: brands.rows.count)
            if let places = brands.compact(isUsed: isUsed, addedFrom: oldBrands) { table.mapValues(by: places) }
        }
        return BrandIndex(generation: generation, profile: profile, table: table, brands: brands)
    }

    /// The position of the record's brand, rendered now if it is a new one; nil when it has no name to show.
    private mutating func brand(of record: BrandRecord) -> UInt32? {
        let fingerprint = BrandFingerprint(record)
        if let known = brandOf[fingerprint] { return known == .max ? nil : known }
        guard let name = DisplayName(record.name, profile: profile) else {
            brandOf[fingerprint] = .max
            return nil
        }
        let position = UInt32(brands.rows.count)
        brands.append(
            name: name, info: CallInfo(logoURL: record.logoURL, reason: record.callReason, profile: profile),
            brandID: record.brandID)
        brandOf[fingerprint] = position
        return position
    }

    /// Files everything again in a table of another size.
    private mutating func grow(to count: Int) {
        var next = NumberTable(expectedCount: max(count, 1024))
        var nextTimes = times.isEmpty ? [] : [UpdateTime](repeating: .never, count: next.keys.count)
        for slot in table.keys.indices where table.keys[slot] != 0 {
            let destination = next.slot(for: table.keys[slot]).slot
            next.put(table.values[slot], under: table.keys[slot], in: destination)
            if !times.isEmpty { nextTimes[destination] = times[slot] }
        }
        table = next
        times = nextTimes
    }
}
