// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Cleans texts of clients about themselves: short, one line, no invisible characters.
enum ClientText {
    /// Removes control, format and line break characters and blanks at both ends, and limits the length.
    ///
    /// - Parameter limit: in code points, as JSON Schema counts.
    /// - Returns: nil for an empty result.
    static func clean(_ text: String, atMost limit: Int) -> String? {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.lazy.filter(isVisible).drop(while: { $0 == " " }).prefix(limit) {
            kept.append(scalar)
        }
        while kept.last == " " { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept)
    }

    /// Cleans any JSON value; numbers and Booleans become text, lists and objects give nil.
    static func clean(_ value: JSONValue?, atMost limit: Int) -> String? {
        switch value {
        case .string(let text): clean(text, atMost: limit)
        case .int(let number): String(number)
        case .double(let number): String(number)
        case .bool(let flag): String(flag)
        case .null, .array, .object, nil: nil
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}
