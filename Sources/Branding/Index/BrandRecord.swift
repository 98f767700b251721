// SPDX-License-Identifier: Apache-2.0

/// A phone number and its brand, as the directory sends them.
///
/// `BrandingAPI` enforces the directory's field limits: 1–100 characters of name, 1–2048 of logo URL, 1–200 of call
/// reason. Source: securenode-ios-sdk, field constraints.
public struct BrandRecord: Hashable, Sendable {
    /// The caller's number: the lookup key.
    public var number: E164Number
    /// The display name; 1 to 100 characters.
    public var name: String
    /// The directory's identifier of the brand.
    public var brandID: String
    /// URL of the logo; nil if the brand has none.
    public var logoURL: String?
    /// The brand's reason for calling; at most 200 characters; nil if absent.
    public var callReason: String?
    /// The directory's timestamp, unchanged. Of two records for one number the newer one wins.
    public var updatedAt: String

    public init(
        number: E164Number, name: String, brandID: String, logoURL: String? = nil, callReason: String? = nil,
        updatedAt: String
    ) {
        self.number = number
        self.name = name
        self.brandID = brandID
        self.logoURL = logoURL
        self.callReason = callReason
        self.updatedAt = updatedAt
    }
}
