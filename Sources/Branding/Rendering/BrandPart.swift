// SPDX-License-Identifier: Apache-2.0

/// A part of a brand that an index stores.
///
/// `name` and `brandID` are plain text; the other parts are header bytes.
package enum BrandPart: Hashable, Sendable, CaseIterable {
    /// The display name as a quoted-string: `"Acme Bank"`.
    case quotedName
    /// A Call-Info value with logo and call reason; empty if the brand has neither.
    case callInfo
    /// A Call-Info value with the call reason only; empty if the brand has none.
    case callInfoReasonOnly
    /// The display name without quotes, as a phone shows it.
    case name
    /// The directory's identifier of the brand.
    case brandID
}
