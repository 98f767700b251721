// SPDX-License-Identifier: Apache-2.0

/// Renders each distinct brand (name, identifier, logo and call reason) once. Not thread-safe.
struct BrandRendering: Sendable {
    /// The rendered brands, after those passed to `init`.
    private(set) var brands: RenderedBrands
    private let profile: RenderingProfile
    private let memoryLimit: Int
    private var positions: [BrandFingerprint: UInt32] = [:]
    private static let nameless = UInt32.max

    /// Continues after `brands`, which were rendered with the same profile.
    ///
    /// They are not compared with new brands.
    ///
    /// - Parameter memoryLimit: the memory limit of the brands in bytes.
    init(
        _ profile: RenderingProfile, behind brands: RenderedBrands = RenderedBrands(),
        memoryLimit: Int = RenderedBrands.memoryLimit
    ) {
        self.profile = profile
        self.memoryLimit = memoryLimit
        self.brands = brands
    }

    /// Returns the position of the record's brand and renders a new brand.
    ///
    /// Nil if the brand has no displayable name, or if the memory limit is reached.
    mutating func position(of record: BrandRecord) -> UInt32? {
        let fingerprint = BrandFingerprint(record)
        if let known = positions[fingerprint] { return known == Self.nameless ? nil : known }
        guard brands.fits(in: memoryLimit, known: positions.count) else { return nil }
        guard let name = DisplayName(record.name, profile: profile) else {
            positions[fingerprint] = Self.nameless
            return nil
        }
        let position = UInt32(brands.rows.count)
        brands.append(
            name: name, info: CallInfo(logoURL: record.logoURL, reason: record.callReason, profile: profile),
            brandID: record.brandID)
        positions[fingerprint] = position
        return position
    }
}
