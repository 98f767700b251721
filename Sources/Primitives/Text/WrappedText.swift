// SPDX-License-Identifier: Apache-2.0

/// Breaks text into lines of a terminal.
public enum WrappedText {
    /// Returns lines of at most `width` columns, broken at blanks.
    ///
    /// A word that is longer than a line is cut, before a semicolon where it has one, as header fields are folded. At least one
    /// line, which is empty for an empty text. `width` must be 2 or more.
    public static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let joined = line.isEmpty ? String(word) : "\(line) \(word)"
            if TerminalText.width(joined) <= width {
                line = joined
                continue
            }
            let isLong = TerminalText.width(String(word)) > width
            if !line.isEmpty, !isLong || TerminalText.width(line) + 3 > width {
                lines.append(line)
                line = ""
            }
            var rest = word
            if !line.isEmpty { line += " " }
            while true {
                let piece = piece(of: rest, columns: width - TerminalText.width(line))
                line += piece
                rest = rest.dropFirst(piece.count)
                guard !rest.isEmpty else { break }
                lines.append(line)
                line = ""
            }
        }
        return lines + [line]
    }

    /// Breaks the long lines of a text; the rest of a line is behind blanks.
    ///
    /// - Parameters:
    ///   - columns: the first characters of a line, which stay on it, and the blanks of its rest.
    ///   - width: the columns of a line; a text for fewer than 20 columns behind the blanks stays as it is.
    public static func hanging(_ text: String, behind columns: Int, width: Int) -> String {
        guard width - columns >= 20 else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard TerminalText.width(String(line)) > width else { return String(line) }
            let begin = String(repeating: " ", count: columns)
            let rest = lines(String(line.dropFirst(columns)), width: width - columns)
            return line.prefix(columns) + rest.joined(separator: "\n" + begin)
        }.joined(separator: "\n")
    }

    /// The begin of a word that fits; at least one character.
    private static func piece(of word: Substring, columns: Int) -> Substring {
        var (end, used) = (word.startIndex, 0)
        while end < word.endIndex {
            let next = used + TerminalText.width(String(word[end]))
            guard next <= columns || end == word.startIndex else { break }
            used = next
            end = word.index(after: end)
        }
        guard end < word.endIndex else { return word }
        let fold = word[..<end].lastIndex(of: ";").flatMap { $0 > word.startIndex ? $0 : nil }
        return word[..<(fold ?? end)]
    }
}
