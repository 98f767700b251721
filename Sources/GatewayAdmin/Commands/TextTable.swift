// SPDX-License-Identifier: Apache-2.0

/// Aligns rows of text in columns, for terminals and pipes.
///
/// Control characters become visible escapes, because some cells come from the wire.
package struct TextTable {
    private var rows: [[String]]

    /// Starts a table with its titles.
    ///
    /// Without titles there is no title line.
    package init(_ titles: [String]) {
        rows = titles.isEmpty ? [] : [titles]
    }

    /// Adds a row.
    ///
    /// An empty or missing cell becomes a dash.
    package mutating func add(_ cells: [String?]) {
        rows.append(cells.map { cell in cell.flatMap { $0.isEmpty ? nil : TerminalText.visible($0) } ?? "-" })
    }

    /// The table.
    ///
    /// Every line has its end and no trailing blanks.
    package var text: String {
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

/// Makes text safe for a terminal.
package enum TerminalText {
    /// Returns the text with control characters, line breaks, direction marks and other invisible characters as
    /// escapes.
    ///
    /// The caller chooses the Call-ID. It must not move a cursor or overwrite a line.
    package static func visible(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { out, scalar in
            if isInvisible(scalar) {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns the columns of a text.
    ///
    /// East Asian wide characters and emoji take two.
    static func width(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            return sum + (isWide(scalar) ? 2 : 1)
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        case .format: scalar.value != 0x200C && scalar.value != 0x200D  // joiners, which emoji and several scripts need
        default: false
        }
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
