// SPDX-License-Identifier: Apache-2.0

/// Writes lines of comma-separated values (RFC 4180).
enum CSVLine {
    /// One cell of a line.
    enum Cell {
        /// A text of this program, such as a number or a column name; written unchanged.
        case plain(String)
        /// Any other text; a spreadsheet shows it and never evaluates it (`CellText`).
        case text(String)
    }

    /// The line with its line break.
    static func text(_ cells: [Cell]) -> String {
        cells.map { cell in
            switch cell {
            case .plain(let text): quoted(text)
            case .text(let text): quoted(CellText.written(text))
            }
        }.joined(separator: ",") + "\r\n"
    }

    /// The text in quotes where RFC 4180 requires them.
    ///
    /// By code points, as `CSVReader` reads: a quote with a combining mark on it is a quote.
    private static func quoted(_ text: String) -> String {
        let needs = text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }
        guard needs else { return text }
        return "\"" + String(text.unicodeScalars.replacing("\"".unicodeScalars, with: "\"\"".unicodeScalars)) + "\""
    }
}
