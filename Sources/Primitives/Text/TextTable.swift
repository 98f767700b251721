// SPDX-License-Identifier: Apache-2.0

/// The width of the tables of commands.
public enum TableForm: Sendable {
    /// At most 80 columns, on a terminal and in a file: some columns are left out, and long cells end with `…`.
    case narrow
    /// All columns with whole cells.
    case wide

    /// Columns of a usual terminal.
    public static let columns = 80
}

/// Aligns rows of text in columns, for terminals and pipes.
///
/// Control characters become visible escapes, because some cells come from the wire.
public struct TextTable {
    private let form: TableForm
    /// Places of the columns that are listed.
    private let listed: [Int]
    /// For each listed column: whether its cells are cut last.
    private let isWhole: [Bool]
    private var rows: [[String]]

    /// Starts a table with its titles.
    ///
    /// - Parameters:
    ///   - whole: titles of columns whose cells are cut only if nothing else makes a narrow table fit.
    ///   - wideOnly: titles of columns that a narrow table leaves out.
    public init(_ titles: [String], _ form: TableForm, whole: Set<String> = [], wideOnly: Set<String> = []) {
        self.form = form
        listed = titles.indices.filter { form == .wide || !wideOnly.contains(titles[$0]) }
        isWhole = listed.map { whole.contains(titles[$0]) }
        rows = [listed.map { titles[$0] }]
    }

    /// Adds a row with a cell for each title; an empty cell becomes a dash.
    public mutating func add(_ cells: [String?]) {
        rows.append(listed.map { cells[$0].flatMap { $0.isEmpty ? nil : TerminalText.visible($0) } ?? "-" })
    }

    /// The table; every line has its end and no trailing blanks.
    public var text: String {
        let natural = listed.indices.map { column in rows.map { TerminalText.width($0[column]) }.max() ?? 0 }
        let widths = form == .wide ? natural : ColumnWidths.fitted(natural, cutLast: isWhole)
        return rows.map { row in ColumnWidths.line(zip(row, widths).map { TerminalText.cut($0, to: $1) }, widths) + "\n"
        }.joined()
    }
}

/// Distributes the columns of a terminal among the columns of a table.
public enum ColumnWidths {
    /// Columns that a cut cell keeps while another one can be cut.
    private static let usualLeast = 7
    /// Columns that any cell keeps.
    private static let least = 3
    private static let gap = 2

    /// The widths of a table with at most 80 columns: the widest column is cut first.
    ///
    /// - Parameter cutLast: for each column, whether it is cut only if the others do not suffice.
    public static func fitted(_ natural: [Int], cutLast: [Bool]) -> [Int] {
        var widths = natural
        func widest(_ isCut: (Int) -> Bool) -> Int? { widths.indices.filter(isCut).max { widths[$0] < widths[$1] } }
        while widths.reduce(0, +) + gap * (widths.count - 1) > TableForm.columns {
            let place =
                widest { !cutLast[$0] && widths[$0] > usualLeast } ?? widest { !cutLast[$0] && widths[$0] > least }
                ?? widest { widths[$0] > least }
            guard let place else { break }
            widths[place] -= 1
        }
        return widths
    }

    /// The cells in their columns, without trailing blanks and line end.
    public static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (cell, width) in zip(cells, widths) {
            line += cell + String(repeating: " ", count: max(0, width - TerminalText.width(cell)) + gap)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
