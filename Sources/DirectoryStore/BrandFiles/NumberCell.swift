// SPDX-License-Identifier: Apache-2.0

package import Branding

/// A telephone number in a cell of a file, in the notation of people and spreadsheets.
package struct NumberCell {
    private let text: String

    /// - Parameter text: the cell; a formula of one text, such as `="+61491570156"`, is read as that text.
    package init(_ text: String) {
        let isFormula = text.hasPrefix("=\"") && text.hasSuffix("\"") && text.utf8.count > 3
        self.text = isFormula ? ImportRows.trimmed(String(text.dropFirst(2).dropLast())) : text
    }

    /// The number; nil for an invalid one, and for scientific notation, which has lost digits.
    package func number(_ normalise: (String) -> E164Number?) -> E164Number? { isScientific ? nil : normalise(text) }

    /// The problem and its remedy.
    ///
    /// - Parameters:
    ///   - region: the region of numbers in national format; nil for none.
    ///   - setting: the name of the setting for the region.
    package func problem(region: String?, setting: String = "--region") -> String {
        let shown = "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        if isScientific {
            return """
                \(shown) is scientific notation, in which a spreadsheet has lost digits; format the column as text, \
                enter the numbers again, and save
                """
        }
        if let region { return "\(shown) is no valid number, neither with + nor in \(region)" }
        if text.hasPrefix("+") { return "\(shown) is no valid number" }
        return """
            \(shown) is no number without its country: write it with + and the country code, such as +61491570156, \
            or name the region of the numbers (\(setting))
            """
    }

    /// True for `6.1492E+10` and `6,1492E+10`.
    ///
    /// A regular expression is compiled at each use, which took half of the time of an import; few cells have an E.
    private var isScientific: Bool {
        text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
            && text.wholeMatch(of: /[+-]?[0-9]+([.,][0-9]+)?[eE][+-]?[0-9]{1,3}/) != nil
    }
}
