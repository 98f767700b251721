// SPDX-License-Identifier: Apache-2.0

/// Makes foreign text safe for terminals and log lines.
public enum TerminalText {
    /// Returns the text with control characters, line breaks, direction marks and other invisible characters as
    /// escapes.
    ///
    /// Callers choose a Call-ID, and directories their messages. Neither may move a cursor or overwrite a line.
    public static func visible(_ text: some StringProtocol) -> String { escaped(text) { _ in false } }

    /// Returns a text of many lines with the same escapes; line breaks stay.
    public static func visibleLines(_ text: some StringProtocol) -> String { escaped(text) { $0 == "\n" } }

    /// Appends a code point, or its escape `\u{1b}` if it is invisible.
    public static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        if isInvisible(scalar) {
            text += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            text.unicodeScalars.append(scalar)
        }
    }

    private static func escaped(_ text: some StringProtocol, but stays: (Unicode.Scalar) -> Bool) -> String {
        text.unicodeScalars.reduce(into: "") { out, scalar in
            if stays(scalar) { out.unicodeScalars.append(scalar) } else { append(scalar, to: &out) }
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        case .format: scalar.value != 0x200C && scalar.value != 0x200D  // joiners, which emoji and several scripts need
        default: false
        }
    }

    /// Returns the columns of a text.
    ///
    /// East Asian wide characters and emoji take two.
    public static func width(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            return sum + (isWide(scalar) ? 2 : 1)
        }
    }

    /// Returns a text of at most `columns`, which ends with `…` if a part is left out.
    ///
    /// `columns` must be 1 or more.
    public static func cut(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var (begin, left) = ("", columns - 1)
        for character in text {
            let wanted = width(String(character))
            guard wanted <= left else { break }
            begin.append(character)
            left -= wanted
        }
        return begin + "…"
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
