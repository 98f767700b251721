// SPDX-License-Identifier: Apache-2.0

/// Makes the directory's text safe for a header and honest on a display.
///
/// - Removes control characters, so that no text ends the header line.
/// - Removes invisible characters and direction marks, so that a phone shows no misleading text.
/// - Collapses white space to single blanks.
/// - Cuts between grapheme clusters, never inside an emoji or an accented letter.
enum HeaderText {
    /// Cleans and cuts a text.
    ///
    /// - Parameters:
    ///   - maxBytes: the largest result in bytes of UTF-8.
    ///   - maxCharacters: the largest result in characters.
    ///   - profile: the treatment of percent signs and quotes.
    /// - Returns: an empty text if no readable character remains.
    static func clean(_ raw: String, maxBytes: Int, maxCharacters: Int, profile: RenderingProfile) -> String {
        if isPlain(raw), raw.utf8.count <= min(maxBytes, maxCharacters) { return raw }
        let safe = replaceSigns(in: TypographicQuotes.applied(to: collapse(raw), profile.quotes), profile.percent)
        let cut = trim(prefix(of: safe, maxBytes: maxBytes, maxCharacters: maxCharacters))
        return isReadable(cut) ? cut : ""
    }

    /// True for ASCII letters, digits and single blanks. Most names are like this and need no cleaning.
    private static func isPlain(_ raw: String) -> Bool {
        var last = UInt8(ascii: " ")
        for byte in raw.utf8 {
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard isLetter || isDigit || byte == UInt8(ascii: " ") && last != byte else { return false }
            last = byte
        }
        return last != UInt8(ascii: " ")
    }

    /// Removes invisible characters and collapses white space.
    private static func collapse(_ raw: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in raw.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator: appendBlank(to: &out)
            case .control: if (0x09...0x0D).contains(scalar.value) { appendBlank(to: &out) }
            // Drops bidi controls, zero-width spaces and tags. Keeps the joiners, which emoji and several scripts need.
            case .format: if scalar.value == 0x200C || scalar.value == 0x200D { out.append(scalar) }
            case .surrogate, .privateUse: break
            default: if scalar.value & 0xFFFE != 0xFFFE { out.append(scalar) }
            }
        }
        return String(out)
    }

    private static func appendBlank(to out: inout String.UnicodeScalarView) {
        if let last = out.last, last != " " { out.append(" ") }
    }

    /// Applies the policy for `%` and `${`. Runs on collapsed text, so that a later removal cannot join `$` and `{`.
    private static func replaceSigns(in text: String, _ percent: PercentPolicy) -> String {
        guard percent == .spellOut, text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "{") })
        else { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%":
                appendBlank(to: &out)
                out.append(contentsOf: "percent ".unicodeScalars)
            case " ": appendBlank(to: &out)
            case "{":
                while out.last == "$" { out.removeLast() }
                out.append(scalar)
            default: out.append(scalar)
            }
        }
        return String(out)
    }

    private static func prefix(of text: String, maxBytes: Int, maxCharacters: Int) -> Substring {
        var end = text.startIndex
        var bytes = 0
        var characters = 0
        while end < text.endIndex, characters < maxCharacters {
            let next = text.index(after: end)
            bytes += text.utf8.distance(from: end, to: next)
            guard bytes <= maxBytes else { break }
            characters += 1
            end = next
        }
        return text[..<end]
    }

    private static func trim(_ text: Substring) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// True if the text has a letter, a digit, punctuation or a symbol.
    private static func isReadable(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .nonspacingMark, .enclosingMark, .spacingMark, .unassigned: false
            default: true
            }
        }
    }
}

/// Makes text from SIP messages safe for records, pages and terminals.
public enum ReadableText {
    /// Decodes UTF-8, removes control characters, invisible characters and direction marks, collapses white space, and
    /// cuts between characters.
    ///
    /// - Parameter maxBytes: the largest result in bytes of UTF-8.
    public static func clean(_ bytes: [UInt8], maxBytes: Int) -> String {
        HeaderText.clean(
            String(decoding: bytes, as: UTF8.self), maxBytes: maxBytes, maxCharacters: maxBytes,
            profile: RenderingProfile(percent: .keep))
    }
}

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
