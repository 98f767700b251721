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

    /// True for a field that a client can leave out; the others are in each entry of the published schema, and a
    /// deactivated entry is known by the last.
    package var isOptional: Bool { self == .logoURL || self == .callReason || self == .deepLink }

    package static let all = Set(allCases)
}
