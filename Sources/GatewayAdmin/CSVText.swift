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

    private static func cell(_ text: String) -> String {
        var visible = TerminalText.visible(text)
        if let first = visible.first, "=+-@".contains(first), !visible.dropFirst().allSatisfy(\.isNumber) {
            visible = "'" + visible
        }
        guard visible.contains(where: { ",\"'".contains($0) || $0 == " " }) else { return visible }
        return "\"" + visible.replacing("\"", with: "\"\"") + "\""
    }
}
