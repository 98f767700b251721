// SPDX-License-Identifier: Apache-2.0

/// Aligns rows of text in columns, for terminals and pipes.
///
/// Control characters become visible escapes, because some cells come from the wire.
public struct TextTable {
    private var rows: [[String]]

    /// Starts a table with its titles; without titles there is no title line.
    public init(_ titles: [String]) {
        rows = titles.isEmpty ? [] : [titles]
    }

    /// Adds a row; an empty or missing cell becomes a dash.
    public mutating func add(_ cells: [String?]) {
        rows.append(cells.map { cell in cell.flatMap { $0.isEmpty ? nil : TerminalText.visible($0) } ?? "-" })
    }

    /// The table; every line has its end and no trailing blanks.
    public var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? TerminalText.width($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                line += cell + String(repeating: " ", count: width - TerminalText.width(cell) + 2)
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
