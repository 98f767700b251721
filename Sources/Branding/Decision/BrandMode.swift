// SPDX-License-Identifier: Apache-2.0

/// The effect of a branding decision on the calls of a trunk or a route.
///
/// The modes of trunk and route are joined: the one further down here counts.
public enum BrandMode: UInt8, Hashable, Sendable, CaseIterable, ExpressibleByBooleanLiteral {
    /// The brand is written into the INVITE.
    case on
    /// The call is decided and recorded, and goes on as with `off`.
    ///
    /// The directory gets neither an event nor a lookup of such a call.
    case shadow
    /// No call is decided, and none has a brand.
    case off

    /// `true` or `false`, as the configuration has it.
    public init(booleanLiteral isOn: Bool) { self = isOn ? .on : .off }

    /// The mode of a call that two settings concern.
    public func joined(with other: BrandMode) -> BrandMode { rawValue < other.rawValue ? other : self }
}
