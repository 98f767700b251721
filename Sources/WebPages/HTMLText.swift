// SPDX-License-Identifier: Apache-2.0

import Mustache

/// Escapes values for HTML scalar by scalar.
///
/// Mustache's own escaping compares characters. A quote with a combining mark is one character that differs from a
/// quote, so it would end an attribute.
struct HTMLText: MustacheContentType {
    /// The first line of every template; it makes Mustache use this escaping.
    static let pragma: String = {
        MustacheContentTypes.register(HTMLText(), named: "PAGE")
        return "{{% CONTENT_TYPE:PAGE}}"
    }()

    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
