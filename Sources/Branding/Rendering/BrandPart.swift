// SPDX-License-Identifier: Apache-2.0

/// What can be had of a brand; all but the name and the identifier are ready for a header.
package enum BrandPart: Hashable, Sendable, CaseIterable {
    /// The display name with quotes and escapes: `"Acme Bank"`.
    case quotedName
    /// A Call-Info value with all there is; empty when there is neither logo nor reason.
    case callInfo
    /// A Call-Info value with the reason alone; empty when there is none.
    case callInfoReasonOnly
    /// The display name as a phone shows it.
    case name
    /// The directory's identifier of the brand.
    case brandID
}
