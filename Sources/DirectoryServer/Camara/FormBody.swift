// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads bodies of the type `application/x-www-form-urlencoded`.
enum FormBody {
    static let mediaType = "application/x-www-form-urlencoded"

    /// The parameters that have a value.
    ///
    /// - Returns: nil for a parameter that comes twice (RFC 6749 §3.2), and for a text that cannot be decoded.
    static func read(_ body: Data) -> [String: String]? {
        guard let text = String(bytes: body, encoding: .utf8) else { return nil }
        var form: [String: String] = [:]
        var names: Set<String> = []
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(pair[0]), let value = decoded(pair.count == 2 ? pair[1] : ""),
                names.insert(name).inserted
            else { return nil }
            // A parameter without a value is taken as left out (RFC 6749 §3.2).
            if !value.isEmpty { form[name] = value }
        }
        return form
    }

    /// The text of a name or value; nil for a broken escape.
    static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}
