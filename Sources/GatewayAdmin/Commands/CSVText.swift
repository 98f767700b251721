// SPDX-License-Identifier: Apache-2.0

/// Rows of text as comma-separated values (RFC 4180), for spreadsheets and scripts.
package enum CSVText {
    /// One row with its line end; a missing cell is empty.
    ///
    /// Control characters become visible escapes, because some cells come from the wire, and a cell a spreadsheet would
    /// take for a formula gets an apostrophe in front; a telephone number with its plus sign is none.
    package static func row(_ cells: [String?]) -> String {
        cells.map { cell($0 ?? "") }.joined(separator: ",") + "\r\n"
    }

    /// By code points: to a reader of bytes a comma is one, whatever mark is set on it.
    private static func cell(_ text: String) -> String {
        var visible = Array(TerminalText.visible(text).unicodeScalars)
        if let first = visible.first, "=+-@".unicodeScalars.contains(first),
            !visible.dropFirst().allSatisfy({ ("0"..."9").contains($0) })
        {
            visible.insert("'", at: 0)
        }
        let isQuoted = visible.contains { ",\"' ".unicodeScalars.contains($0) }
        var cell = String.UnicodeScalarView()
        if isQuoted { cell.append("\"") }
        for scalar in visible {
            if scalar == "\"" { cell.append(scalar) }
            cell.append(scalar)
        }
        if isQuoted { cell.append("\"") }
        return String(cell)
    }
}
