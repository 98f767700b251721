// SPDX-License-Identifier: Apache-2.0

/// Renders the brands of records, each brand (same name, identifier, logo and reason) once.
///
/// Not for several threads at once.
struct BrandRendering: Sendable {
    /// What was rendered so far, behind the brands there were before.
    private(set) var brands: RenderedBrands
    private let profile: RenderingProfile
    private let room: Int
    private var positions: [BrandFingerprint: UInt32] = [:]
    private static let nameless = UInt32.max

    /// Goes on behind brands that were rendered by the same profile; they are not looked at.
    ///
    /// - Parameter room: bytes the brands may take.
    init(
        _ profile: RenderingProfile, behind brands: RenderedBrands = RenderedBrands(), room: Int = RenderedBrands.room
    ) {
        self.profile = profile
        self.room = room
        self.brands = brands
    }

    /// The position of the record's brand, rendered now if it is a new one; nil when it has no name to show, or when there
    /// is no room for it.
    mutating func position(of record: BrandRecord) -> UInt32? {
        let fingerprint = BrandFingerprint(record)
        if let known = positions[fingerprint] { return known == Self.nameless ? nil : known }
        guard brands.fits(in: room, known: positions.count) else { return nil }
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
