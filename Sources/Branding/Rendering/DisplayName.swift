// SPDX-License-Identifier: Apache-2.0

/// A brand's display name for From, P-Asserted-Identity and Remote-Party-ID.
package struct DisplayName: Hashable, Sendable {
    /// The name without quotes, as a phone shows it.
    package let text: String

    /// Cleans and cuts the directory's name.
    ///
    /// - Returns: nil if no readable character remains. Such a brand is not shown.
    package init?(_ name: String, profile: RenderingProfile) {
        text = HeaderText.clean(
            name, maxBytes: profile.maxNameBytes, maxCharacters: profile.maxNameBytes, profile: profile)
        if text.isEmpty { return nil }
    }

    /// The name as a quoted-string, including the quotes (RFC 3261 §25.1).
    package var quoted: String { QuotedString.text(of: text) }
}

/// Writes a quoted-string with escaped backslashes and quotes (RFC 3261 §25.1).
enum QuotedString {
    /// Appends the quoted text to `out`. The text must have no control characters.
    static func append(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { out.append(UInt8(ascii: "\\")) }
            out.append(byte)
        }
        out.append(UInt8(ascii: "\""))
    }

    static func text(of text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
