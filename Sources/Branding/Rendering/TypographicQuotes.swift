// SPDX-License-Identifier: Apache-2.0

/// Quotes as print has them, for PBXs that show the backslashes of a quoted-string to people.
enum TypographicQuotes {
    /// Writes `"` as “ or ” and `\` as `/`, where the policy asks for it.
    ///
    /// A quote opens at the beginning and behind a blank, an opening bracket, a dash or a slash; elsewhere it closes.
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
