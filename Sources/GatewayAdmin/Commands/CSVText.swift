// SPDX-License-Identifier: Apache-2.0

/// Writes rows as comma-separated values (RFC 4180), for spreadsheets and scripts.
package enum CSVText {
    /// Returns one row with its line end.
    ///
    /// A missing cell is empty.
    ///
    /// Control characters become visible escapes, because some cells come from the wire. A cell that a spreadsheet
    /// would read as a formula gets a leading apostrophe. A telephone number with its plus sign does not.
    package static func row(_ cells: [String?]) -> String {
        cells.map { cell($0 ?? "") }.joined(separator: ",") + "\r\n"
    }

    /// By code points: a reader of bytes sees a comma even with a combining mark on it.
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
