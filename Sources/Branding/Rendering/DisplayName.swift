// SPDX-License-Identifier: Apache-2.0

/// A brand's name as it can stand in From, P-Asserted-Identity and Remote-Party-ID.
package struct DisplayName: Hashable, Sendable {
    /// The name as a phone shows it, without quotes.
    package let text: String

    /// Cleans and cuts a name of the directory.
    ///
    /// - Returns: nil when nothing readable is left; such a brand is not shown.
    package init?(_ name: String, profile: RenderingProfile) {
        text = HeaderText.clean(
            name, maxBytes: profile.maxNameBytes, maxCharacters: profile.maxNameBytes, profile: profile)
        if text.isEmpty { return nil }
    }

    /// The name as a quoted-string, quotes included (RFC 3261 §25.1).
    package var quoted: String { QuotedString.text(of: text) }
}
