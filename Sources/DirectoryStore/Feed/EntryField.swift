// SPDX-License-Identifier: Apache-2.0

/// A field of an entry in a sync response.
package enum EntryField: String, Hashable, Sendable, CaseIterable {
    case number = "phone_number_e164"
    case name = "brand_name"
    case brandID = "brand_id"
    case updatedAt = "updated_at"
    case logoURL = "logo_url"
    case callReason = "call_reason"
    case isActive = "is_active"
    case deepLink = "deep_link"

    /// True for a field that a client can leave out.
    ///
    /// The published schema requires the first four, and a deactivated entry is known by `is_active`. The link stays in
    /// lists with fields and in lightweight lists for mobile clients (mobile-api, "List Stories with Field Filtering").
    package var isOptional: Bool { self == .logoURL || self == .callReason }

    package static let all = Set(allCases)
}
