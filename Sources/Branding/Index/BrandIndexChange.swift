// SPDX-License-Identifier: Apache-2.0

/// Derives an index from another one by applying changed numbers.
///
/// The other index stays unchanged. The cost is proportional to the number of changes. A large index shares its table
/// with the new one; the table is copied only if many changes have accumulated. Not thread-safe.
public struct BrandIndexChange: Sendable {
    private let profile: RenderingProfile
    private let generation: Int64
    private let deltaLimit: Int
    /// The number of brands in the old index. They keep their positions.
    private let oldBrands: Int
    private var numbers: BrandedNumbers
    private var rendering: BrandRendering

    /// Starts from an index.
    ///
    /// Numbers that are neither added nor removed keep their brand.
    ///
    /// - Parameters:
    ///   - generation: sequence number of the records in the new index.
    ///   - deltaLimit: the number of changes above which they are merged into the table. Depends on the size of the index by
    ///     default.
    public init(of index: BrandIndex, generation: Int64, deltaLimit: Int? = nil) {
        profile = index.profile
        self.generation = generation
        self.deltaLimit = deltaLimit ?? BrandedNumbers.deltaLimit(for: index.count)
        oldBrands = index.brandCount
        numbers = index.numbers
        rendering = BrandRendering(profile, behind: index.brands)
    }

    /// Adds or replaces a record.
    ///
    /// Each number is added once, with its newest record. A record without a displayable name removes the number.
    public mutating func add(_ record: BrandRecord) {
        guard let brand = rendering.position(of: record) else { return remove(record.number) }
        numbers.set(brand, for: record.number.digits)
    }

    /// Removes a number, if present.
    public mutating func remove(_ number: E164Number) { numbers.remove(number.digits) }

    /// Finishes the index.
    public consuming func finish() -> BrandIndex {
        var brands = rendering.brands
        if numbers.changes.count > deltaLimit { numbers.mergeChanges() }
        numbers.compact(&brands, addedFrom: oldBrands)
        return BrandIndex(generation: generation, profile: profile, numbers: numbers, brands: brands)
    }
}
