// SPDX-License-Identifier: Apache-2.0

/// Writes lines of comma-separated values (RFC 4180), for scripts, spreadsheets and imports.
public enum CSVLine {
    /// One cell of a line.
    public enum Cell: Sendable {
        /// A text of this program, such as a number or a column name; written unchanged.
        case plain(String)
        /// Foreign text that an import must restore exactly; `CellText` keeps a spreadsheet from evaluating it.
        case text(String)
        /// Foreign text for readers alone: control characters become visible escapes too.
        ///
        /// A number with its sign, such as a telephone number, is no formula and stays.
        case shown(String)
    }

    /// Returns the line with its line end.
    public static func text(_ cells: [Cell]) -> String {
        cells.map { cell in
            switch cell {
            case .plain(let text): quoted(text)
            case .text(let text): quoted(CellText.written(text))
            case .shown(let text): quoted(shown(TerminalText.visible(text)))
            }
        }.joined(separator: ",") + "\r\n"
    }

    /// Returns a line of foreign texts for readers; a missing cell is empty.
    public static func shown(_ cells: [String?]) -> String { text(cells.map { .shown($0 ?? "") }) }

    private static func shown(_ text: String) -> String {
        let isNumber =
            text.first.map { "+-".contains($0) } ?? true
            && text.unicodeScalars.dropFirst().allSatisfy { ("0"..."9").contains($0) }
        return isNumber ? text : CellText.written(text)
    }

    /// Returns the text in quotes where RFC 4180 requires them.
    ///
    /// By code points, as readers of bytes split lines: a quote with a combining mark on it is a quote.
    private static func quoted(_ text: String) -> String {
        let needs = text.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 10 || $0 == 13 }
        guard needs else { return text }
        return "\"" + String(text.unicodeScalars.replacing("\"".unicodeScalars, with: "\"\"".unicodeScalars)) + "\""
    }
}
