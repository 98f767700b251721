// SPDX-License-Identifier: Apache-2.0

/// Maps E.164 numbers to brands whose header bytes are ready to copy.
///
/// Immutable and in memory. Created by `BrandIndexBuilder` or loaded from a file, then swapped in as a whole.
/// `BrandIndexChange` derives the next index and shares unchanged parts. Thread-safe; a lookup takes some tens of
/// nanoseconds and allocates nothing. The table takes 12 bytes per slot at a load of at most 70 %; each brand's bytes
/// are stored once.
public final class BrandIndex: Sendable {
    /// Sequence number of the cached records that the index was built from.
    public let generation: Int64
    /// The rendering rules of the brands.
    public let profile: RenderingProfile
    let numbers: BrandedNumbers
    let brands: RenderedBrands

    init(generation: Int64, profile: RenderingProfile, numbers: BrandedNumbers, brands: RenderedBrands) {
        self.generation = generation
        self.profile = profile
        self.numbers = numbers
        self.brands = brands
    }

    /// The number of phone numbers with a brand.
    public var count: Int { numbers.count }

    /// The number of distinct brands. A large index may include brands that no longer have a number.
    public var brandCount: Int { brands.rows.count }

    /// True if the brands fill their memory limit. Some brands are then missing, or the next change may drop some.
    public var isFull: Bool { !brands.fits(in: RenderedBrands.memoryLimit) }

    /// Memory in bytes.
    public var memory: Int {
        numbers.memory + brands.rows.count * MemoryLayout<RenderedBrands.Row>.stride + brands.arena.count
    }

    /// Returns the brand of a number, or nil.
    public func entry(for number: E164Number) -> BrandEntry? {
        numbers.value(of: number).map(BrandEntry.init)
    }

    /// The lowest number with a brand; nil without any.
    ///
    /// Reads the whole table: about 10 ms for a million numbers.
    public var lowestNumber: E164Number? { numbers.lowest.flatMap { E164Number(digits: $0) } }

    /// Returns the number of bytes that `append` adds; zero if the brand lacks the part.
    public func length(of part: BrandPart, _ entry: BrandEntry) -> Int { brands.length(of: part, entry.brand) }

    /// Appends a part to `out`, without a line end.
    public func append(_ part: BrandPart, of entry: BrandEntry, to out: inout [UInt8]) {
        brands.append(part, of: entry.brand, to: &out)
    }

    /// Appends a part, with the logo in the form of one family of phones if the gateway serves it.
    ///
    /// - Parameter form: the key of a `LogoForm`; nil for the usual form.
    public func append(_ part: BrandPart, of entry: BrandEntry, logo form: [UInt8]?, to out: inout [UInt8]) {
        guard let form, let logos = profile.logos else { return append(part, of: entry, to: &out) }
        brands.append(part, of: entry.brand, opening: logos.opening, form: form, to: &out)
    }

    /// Returns the file name of the brand's logo at the gateway; nil if the gateway does not serve the logo.
    ///
    /// - Parameter form: the key of a `LogoForm`; nil for the form in Call-Info.
    public func logoFile(of entry: BrandEntry, form: String? = nil) -> String? {
        profile.logos.flatMap { brands.logoFile(of: entry.brand, opening: $0.opening, form: form) }
    }

    /// Returns a part as text for display; empty if the brand lacks the part.
    public func text(_ part: BrandPart, _ entry: BrandEntry) -> String {
        var bytes: [UInt8] = []
        append(part, of: entry, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the brand's Call-Info has a logo.
    public func hasLogo(_ entry: BrandEntry) -> Bool { brands.hasLogo(entry.brand) }

    /// Returns the logo URL in the brand's Call-Info; nil if the brand has no usable logo.
    public func logoURL(of entry: BrandEntry) -> String? { brands.logoURL(of: entry.brand) }
}

/// A brand in one `BrandIndex`.
///
/// Valid only for the index that returned it. Small enough to be kept for the length of a call.
public struct BrandEntry: Hashable, Sendable {
    /// Position of the brand in the index.
    let brand: UInt32
}
