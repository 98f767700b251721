// SPDX-License-Identifier: Apache-2.0

/// The response to `GET mobile/branding/lookup`; brand fields are null without a match.
package struct LookupResponse: Codable, Hashable, Sendable {
    package var success: Bool
    /// The number of the request, in E.164 with plus sign.
    package var e164: String
    package var brandName: String?
    package var logoURL: String?
    package var callReason: String?
    package var brandID: String?
    package var updatedAt: String?
    package var config: DirectoryConfig?
    /// The link to the brand, or without one to the number; mobile client types alone get it.
    package var deepLink: String?

    package enum CodingKeys: String, CodingKey {
        case success, e164, config
        case deepLink = "deep_link"
        case brandName = "brand_name"
        case logoURL = "logo_url"
        case callReason = "call_reason"
        case brandID = "brand_id"
        case updatedAt = "updated_at"
    }

    package init(e164: String, item: BrandingItem?, config: DirectoryConfig?) {
        success = true
        self.e164 = e164
        brandName = item?.brandName
        logoURL = item?.logoURL
        callReason = item?.callReason
        brandID = item?.brandID
        updatedAt = item?.updatedAt
        self.config = config
    }

    /// Decodes a response in either shape of the contract.
    ///
    /// An empty object means no match. The default shape has the brand's fields at the top level; the public shape has
    /// `name` and `logo` in `brand`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let brand = try decoder.container(keyedBy: PublicKeys.self).tolerant(PublicBrand.self, .brand)
        success = container.tolerantBool(.success) ?? true
        e164 = container.tolerantString(.e164) ?? ""
        brandName = container.tolerantString(.brandName) ?? brand?.name
        logoURL = container.tolerantString(.logoURL) ?? brand?.logo
        callReason = container.tolerantString(.callReason)
        brandID = container.tolerantString(.brandID)
        updatedAt = container.tolerantString(.updatedAt)
        config = container.tolerant(DirectoryConfig.self, .config)
        deepLink = container.tolerantString(.deepLink)
    }

    private enum PublicKeys: CodingKey { case brand }

    private struct PublicBrand: Decodable {
        let name: String?
        let logo: String?
    }

    /// Encodes absent brand fields as null, as the contract's schema requires.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(success, forKey: .success)
        try container.encode(e164, forKey: .e164)
        try container.encode(brandName, forKey: .brandName)
        try container.encode(logoURL, forKey: .logoURL)
        try container.encode(callReason, forKey: .callReason)
        try container.encode(brandID, forKey: .brandID)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
        try container.encodeIfPresent(config, forKey: .config)
        try container.encodeIfPresent(deepLink, forKey: .deepLink)
    }
}

/// The response to `GET mobile/branding/lookup?format=public`.
package struct PublicLookupResponse: Codable, Hashable, Sendable {
    /// The matching brand.
    package struct Brand: Codable, Hashable, Sendable {
        package var name: String
        package var logo: String?

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(logo, forKey: .logo)
        }
    }

    /// True if the number has a brand.
    package var matched: Bool
    /// True if the brand is in the response.
    package var displayed: Bool
    package var brand: Brand?
    package var callReason: String?
    /// `cache`, `live` or `none`.
    package var source: String
    /// The link to the brand, or without one to the number; mobile client types alone get it.
    package var deepLink: String?

    package enum CodingKeys: String, CodingKey {
        case matched, displayed, brand, source
        case deepLink = "deep_link"
        case callReason = "call_reason"
    }

    /// Creates a response; nil means no match.
    ///
    /// - Parameter isDisplayed: false while the account may not brand calls. The response then has the match without
    ///   its brand.
    package init(_ item: BrandingItem?, isDisplayed: Bool = true) {
        let shown = isDisplayed ? item : nil
        matched = item != nil
        displayed = shown != nil
        brand = shown.map { Brand(name: $0.brandName ?? "", logo: $0.logoURL) }
        callReason = shown?.callReason
        source = item == nil ? "none" : "live"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(matched, forKey: .matched)
        try container.encode(displayed, forKey: .displayed)
        try container.encode(brand, forKey: .brand)
        try container.encode(callReason, forKey: .callReason)
        try container.encode(source, forKey: .source)
        try container.encodeIfPresent(deepLink, forKey: .deepLink)
    }
}
