// SPDX-License-Identifier: Apache-2.0

/// One number and the brand it belongs to, as the directory delivers it.
///
/// Field limits are the directory's (1–100 characters of name, 1–2048 of logo URL, 1–200 of call reason) and are
/// enforced where records enter: `BrandingAPI` clamps, this type carries. Source: securenode-ios-sdk, field constraints.
package struct BrandRecord: Hashable, Sendable {
    /// The caller's number, the lookup key.
    package var number: E164Number
    /// The name a phone shows; 1 to 100 characters.
    package var name: String
    /// The directory's identifier of the brand.
    package var brandID: String
    /// Where the logo can be fetched; nil when the brand has none.
    package var logoURL: String?
    /// Why the brand calls; at most 200 characters; nil when it does not say.
    package var callReason: String?
    /// The directory's own time stamp, kept to the letter: of two records for one number the newer one wins.
    package var updatedAt: String

    package init(
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
