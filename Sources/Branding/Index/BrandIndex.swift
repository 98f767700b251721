// SPDX-License-Identifier: Apache-2.0

/// All numbers and brands calls are branded from: immutable, in memory, ready to be copied into headers.
///
/// Made by `BrandIndexBuilder`, or loaded from a file, then swapped in whole. Any thread; a lookup takes some tens of
/// nanoseconds and allocates nothing. Twelve bytes a slot with seven in ten filled, and each brand's bytes once.
/// `BrandIndexChange` makes the next one of it, which shares what did not change.
package final class BrandIndex: Sendable {
    /// The change of records it was built from, as the cache counts them.
    package let generation: Int64
    /// How the brands were rendered.
    package let profile: RenderingProfile
    let numbers: BrandedNumbers
    let brands: RenderedBrands

    init(generation: Int64, profile: RenderingProfile, numbers: BrandedNumbers, brands: RenderedBrands) {
        self.generation = generation
        self.profile = profile
        self.numbers = numbers
        self.brands = brands
    }

    /// How many numbers have a brand.
    package var count: Int { numbers.count }

    /// How many different brands there are; in a large set those of its table too that lost their last number since.
    package var brandCount: Int { brands.rows.count }

    /// True when brands were left out because there are too many of them, or may be with the next change.
    package var isFull: Bool { !brands.fits(in: RenderedBrands.room) }

    /// Bytes of memory held.
    package var memory: Int {
        numbers.memory + brands.rows.count * MemoryLayout<RenderedBrands.Row>.stride + brands.arena.count
    }

    /// The brand of a number, nil when it has none.
    package func entry(for number: E164Number) -> BrandEntry? {
        numbers.value(of: number).map(BrandEntry.init)
    }

    /// Bytes that `append` would add; zero when the brand has no such part.
    package func length(of part: BrandPart, _ entry: BrandEntry) -> Int { brands.length(of: part, entry.brand) }

    /// Copies a part to the end of `out`, without line end.
    package func append(_ part: BrandPart, of entry: BrandEntry, to out: inout [UInt8]) {
        brands.append(part, of: entry.brand, to: &out)
    }

    /// A part as text, for people; empty when the brand has no such part.
    package func text(_ part: BrandPart, _ entry: BrandEntry) -> String {
        var bytes: [UInt8] = []
        append(part, of: entry, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The logo that stands in the brand's Call-Info; nil when it has none that may stand there.
    package func logoURL(of entry: BrandEntry) -> String? { brands.logoURL(of: entry.brand) }
}
