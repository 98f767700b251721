// SPDX-License-Identifier: Apache-2.0

import Mustache

/// Makes foreign text safe for an HTML page, in text and in quoted attributes.
///
/// It works on code points. Mustache's own escape compares grapheme clusters, so a quote with a combining mark behind it
/// would end an attribute.
package struct PageText: MustacheContentType {
    /// The name of the content type in templates.
    static let name = "PAGE"

    package init() {}

    /// Escapes HTML, and shows control characters, direction marks and other invisible characters as `\u{…}`.
    ///
    /// A caller chooses display name and Call-ID. They must not turn the text around them.
    package func escapeText(_ text: String) -> String {
        var out = ""
        out.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "&": out += "&amp;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            case _ where Self.isInvisible(scalar): out += "\\u{\(String(scalar.value, radix: 16))}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Tab and line ends are layout of preformatted text and of text fields.
        case .control: scalar != "\t" && scalar != "\n" && scalar != "\r"
        case .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        // Joiners are part of emoji and of several scripts.
        case .format: scalar.value != 0x200C && scalar.value != 0x200D
        default: false
        }
    }
}
