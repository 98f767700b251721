// SPDX-License-Identifier: Apache-2.0

/// Brings an index up to date by the numbers that changed after it; the other index stays as it is.
///
/// Costs about what the changes do: the table of a large set is shared with the other index, and only copied when the
/// changes over it have become many. Not for several threads at once.
package struct BrandIndexChange: Sendable {
    private let profile: RenderingProfile
    private let generation: Int64
    private let room: Int
    /// Brands of the other index, which come first.
    private let oldBrands: Int
    private var numbers: BrandedNumbers
    private var rendering: BrandRendering

    /// Starts from another index: what is added or removed replaces what it says of a number, the rest stays.
    ///
    /// - Parameters:
    ///   - generation: the change of records the new one stands for.
    ///   - room: changes above which they go into the table; by its size unless a test says otherwise.
    package init(of index: BrandIndex, generation: Int64, room: Int? = nil) {
        profile = index.profile
        self.generation = generation
        self.room = room ?? BrandedNumbers.room(over: index.count)
        oldBrands = index.brandCount
        numbers = index.numbers
        rendering = BrandRendering(profile, behind: index.brands)
    }

    /// Files a record in the place of what is there; each number comes once, as the cache has it now.
    ///
    /// One with nothing readable in its name takes the number out.
    package mutating func add(_ record: BrandRecord) {
        guard let brand = rendering.position(of: record) else { return remove(record.number) }
        numbers.set(brand, for: record.number.digits)
    }

    /// Takes a number out; nothing happens when it is not there.
    package mutating func remove(_ number: E164Number) { numbers.remove(number.digits) }

    /// The finished index.
    package consuming func finish() -> BrandIndex {
        var brands = rendering.brands
        if numbers.changes.count > room { numbers.mergeChanges() }
        numbers.compact(&brands, addedFrom: oldBrands)
        return BrandIndex(generation: generation, profile: profile, numbers: numbers, brands: brands)
    }
}
