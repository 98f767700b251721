// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Texts by which clients describe themselves, made fit to be kept: short, on one line, nothing invisible.
enum ClientText {
    /// Removes control, format and line break characters and blanks at both ends, and cuts the rest.
    ///
    /// - Parameter limit: in code points, as JSON Schema counts.
    /// - Returns: nil when nothing is left.
    static func clean(_ text: String, atMost limit: Int) -> String? {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.lazy.filter(isVisible).drop(while: { $0 == " " }).prefix(limit) {
            kept.append(scalar)
        }
        while kept.last == " " { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept)
    }

    /// The same for any JSON value; numbers and truth values are written as text, lists and objects give nil.
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
