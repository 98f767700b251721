// SPDX-License-Identifier: Apache-2.0

/// Typographic quotes for PBXs that display the backslashes of a quoted-string.
enum TypographicQuotes {
    /// Replaces `"` by “ or ” and `\` by `/` if the policy is `typographic`.
    ///
    /// A quote opens at the start, and after a blank, an opening bracket, a dash or a slash. Elsewhere it closes.
    static func applied(to text: String, _ policy: QuotePolicy) -> String {
        guard policy == .typographic,
            text.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
        else { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out.append(opens(behind: out.last) ? "\u{201C}" : "\u{201D}")
            case "\\": out.append("/")
            default: out.append(scalar)
            }
        }
        return String(out)
    }

    private static func opens(behind last: Unicode.Scalar?) -> Bool {
        switch last?.properties.generalCategory {
        case nil, .spaceSeparator, .openPunctuation, .initialPunctuation, .dashPunctuation: true
        default: last == "/"
        }
    }
}
