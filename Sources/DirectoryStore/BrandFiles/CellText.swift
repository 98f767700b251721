// SPDX-License-Identifier: Apache-2.0

/// Text in a cell of a CSV file that a spreadsheet might take for a formula.
///
/// It goes out with an apostrophe in front, by which spreadsheets know text, and comes in without it; what had an
/// apostrophe there already gets a second, so that an export can be imported again to the letter.
enum CellText {
    static func written(_ text: String) -> String { mayBeFormula(text) ? "'" + text : text }

    static func read(_ cell: String) -> String {
        cell.hasPrefix("'") && mayBeFormula(cell) ? String(cell.dropFirst()) : cell
    }

    /// Quoted where RFC 4180 wants it.
    static func quoted(_ text: String) -> String {
        let needs = text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }
        return needs ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }

    private static func mayBeFormula(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first(where: { $0 != "'" }) else { return false }
        return ["=", "+", "-", "@", "\t", "\r"].contains(first)
    }
}
