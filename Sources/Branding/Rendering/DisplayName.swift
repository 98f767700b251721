// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A brand's display name for From, P-Asserted-Identity and Remote-Party-ID.
public struct DisplayName: Hashable, Sendable {
    /// The name without quotes, as a phone shows it.
    public let text: String

    /// Cleans and cuts the directory's name.
    ///
    /// - Returns: nil if no readable character remains. Such a brand is not shown.
    public init?(_ name: String, profile: RenderingProfile) {
        text = HeaderText.clean(
            name, maxBytes: profile.maxNameBytes, maxCharacters: profile.maxNameBytes, profile: profile)
        if text.isEmpty { return nil }
    }

    /// The whole name, cleaned as for a display and not cut, for comparisons.
    ///
    /// - Returns: an empty text if no readable character remains.
    public static func whole(_ name: String, profile: RenderingProfile) -> String {
        HeaderText.clean(name, maxBytes: .max, maxCharacters: .max, profile: profile)
    }

    /// The name as a quoted-string, including the quotes (RFC 3261 §25.1).
    public var quoted: String { QuotedString.text(of: text) }
}
