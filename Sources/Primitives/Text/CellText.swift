// SPDX-License-Identifier: Apache-2.0

/// Protects CSV cells that a spreadsheet might evaluate as a formula.
///
/// The begins are those of OWASP's page on CSV injection, with their full-width forms. Such a text is written with an apostrophe in front, which marks text in spreadsheets, and read without it. A text
/// that begins with an apostrophe gets a second one, so that an import restores every export exactly.
public enum CellText {
    /// Returns the content of a cell with the text.
    public static func written(_ text: String) -> String { mayBeFormula(text) ? "'" + text : text }

    /// Returns the text of a cell.
    public static func read(_ cell: String) -> String {
        cell.hasPrefix("'") && mayBeFormula(cell) ? String(cell.dropFirst()) : cell
    }

    private static func mayBeFormula(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first(where: { $0 != "'" }) else { return false }
        return ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"].contains(first)
    }
}
