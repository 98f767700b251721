// SPDX-License-Identifier: Apache-2.0

package import Branding

/// One entry of the `branding` array in a sync response.
///
/// `is_active` is in no published schema, but directories use it: false removes the number from an incremental client.
package struct BrandingItem: Hashable, Sendable {
    package var phoneNumber: String
    package var brandName: String?
    package var brandID: String?
    /// ISO 8601, unchanged.
    package var updatedAt: String?
    package var logoURL: String?
    package var callReason: String?
    /// Nil means active.
    package var isActive: Bool?

    /// Creates the entry for a record.
    package init(_ record: BrandRecord, isActive: Bool? = nil) {
        self.init(
            phoneNumber: record.number.description, brandName: record.name, brandID: record.brandID,
            updatedAt: record.updatedAt, logoURL: record.logoURL, callReason: record.callReason, isActive: isActive)
    }

    package init(
        phoneNumber: String, brandName: String?, brandID: String? = nil, updatedAt: String? = nil,
        logoURL: String? = nil, callReason: String? = nil, isActive: Bool? = nil
    ) {
        self.phoneNumber = phoneNumber
        self.brandName = brandName
        self.brandID = brandID
        self.updatedAt = updatedAt
        self.logoURL = logoURL
        self.callReason = callReason
        self.isActive = isActive
    }

    /// Returns the record, with texts clamped to the contract's limits between characters.
    ///
    /// - Throws: `BrandingItemError` if the number is invalid or the name is missing.
    package func record() throws(BrandingItemError) -> BrandRecord {
        guard let number = E164Number(phoneNumber) else { throw .noValidNumber }
        guard let name = Self.clamped(brandName, FieldLimit.brandName) else { throw .noName }
        return BrandRecord(
            number: number, name: name, brandID: brandID ?? "",
            // A truncated URL is useless, so a URL over the limit is dropped.
            logoURL: logoURL.flatMap { $0.isEmpty || $0.count > FieldLimit.logoURL ? nil : $0 },
            callReason: Self.clamped(callReason, FieldLimit.callReason), updatedAt: updatedAt ?? "")
    }

    /// Trims white space and cuts to `limit` characters; nil if nothing remains.
    private static func clamped(_ text: String?, _ limit: Int) -> String? {
        guard let text else { return nil }
        var clamped = text.drop { $0.isWhitespace }.prefix(limit)
        while clamped.last?.isWhitespace == true { clamped.removeLast() }
        return clamped.isEmpty ? nil : String(clamped)
    }
}

extension BrandingItem: Codable {
    package enum CodingKeys: String, CodingKey {
        case phoneNumber = "phone_number_e164"
        case brandName = "brand_name"
        case brandID = "brand_id"
        case updatedAt = "updated_at"
        case logoURL = "logo_url"
        case callReason = "call_reason"
        case isActive = "is_active"
    }

    /// Decodes an entry; only the number is required.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        phoneNumber = try container.decode(String.self, forKey: .phoneNumber)
        brandName = container.tolerantString(.brandName)
        brandID = container.tolerantString(.brandID)
        updatedAt = container.tolerantString(.updatedAt)
        logoURL = container.tolerantString(.logoURL)
        callReason = container.tolerantString(.callReason)
        isActive = container.tolerantBool(.isActive)
    }
}

/// The reason why an entry of a sync response is skipped; the other entries are still used.
package enum BrandingItemError: String, Error, Hashable, Sendable, CustomStringConvertible {
    case noValidNumber = "no valid number"
    case noName = "no brand name"

    package var description: String { rawValue }
}
