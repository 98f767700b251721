// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads bodies of the type `application/x-www-form-urlencoded`, and queries of that form.
enum FormBody {
    static let mediaType = "application/x-www-form-urlencoded"

    /// The parameters of a body that have a value.
    ///
    /// - Returns: nil for a parameter that comes twice (RFC 6749 §3.2), and for a text that cannot be decoded.
    static func read(_ body: Data) -> [String: String]? {
        // A parameter without a value is taken as left out (RFC 6749 §3.2).
        String(bytes: body, encoding: .utf8).flatMap(parameters)?.filter { !$0.value.isEmpty }
    }

    /// The parameters of a text such as `a=b+c&d=`, also those without a value.
    ///
    /// - Returns: nil for a parameter that comes twice, and for a text that cannot be decoded.
    static func parameters(_ text: String) -> [String: String]? {
        var form: [String: String] = [:]
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(pair[0]), let value = decoded(pair.count == 2 ? pair[1] : ""),
                form.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return form
    }

    /// The text of a name or value; nil for a broken escape.
    static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}
