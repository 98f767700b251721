// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The name of a caller for the client of a door.
public struct CallerName: Hashable, Sendable {
    /// The name to show: the brand's, else the present one; empty if there is neither.
    ///
    /// One line of UTF-8 without control characters, within the limit of `branding.max_name_bytes`.
    public let text: String
    /// The directory's identifier of the brand; nil for a caller without a brand.
    public let brandID: String?
    /// The caller in E.164; nil when withheld or not certain.
    public let number: E164Number?
    /// Why the caller has no brand; nil for a branded one.
    public let reason: PassThroughReason?

    /// Whether the name is that of a brand.
    public var isBranded: Bool { reason == nil }
}
