// SPDX-License-Identifier: Apache-2.0

/// Text of the directory made fit for a header: what a name and a reason have in common.
///
/// No control characters, so nothing can end the header line; no characters that are invisible or turn the reading
/// direction, so nothing on the phone's display is other than it seems; white space runs are one blank; the end is cut
/// between characters as a reader sees them, never inside an emoji or a letter with its accents.
enum HeaderText {
    /// Cleans and cuts a text.
    ///
    /// - Parameters:
    ///   - maxBytes: the longest result in bytes of UTF-8.
    ///   - maxCharacters: the longest result in characters.
    ///   - profile: how percent signs and quotes are written.
    /// - Returns: an empty text when nothing readable is left.
    static func clean(_ raw: String, maxBytes: Int, maxCharacters: Int, profile: RenderingProfile) -> String {
        if isPlain(raw), raw.utf8.count <= min(maxBytes, maxCharacters) { return raw }
        let safe = replaceSigns(in: TypographicQuotes.applied(to: collapse(raw), profile.quotes), profile.percent)
        let cut = trim(prefix(of: safe, maxBytes: maxBytes, maxCharacters: maxCharacters))
        return isReadable(cut) ? cut : ""
    }

    /// True for letters, digits and single blanks of ASCII, which need no work; most names are like this.
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

    /// Drops what must not be seen and makes every run of white space one blank.
    private static func collapse(_ raw: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in raw.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator: appendBlank(to: &out)
            case .control: if (0x09...0x0D).contains(scalar.value) { appendBlank(to: &out) }
            // Bidi controls, zero-width spaces and tags; the joiners stay, emoji and several scripts need them.
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

    /// Applies the policy for `%` and `${`; works on the cleaned text, so that nothing removed later can join the two.
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

    /// True if there is anything to read: a letter, a digit, punctuation or a symbol.
    private static func isReadable(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .nonspacingMark, .enclosingMark, .spacingMark, .unassigned: false
            default: true
            }
        }
    }
}
