// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes paths and queries with texts of people in them (RFC 3986 §2.1).
package enum PagePath {
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")

    /// A text as a part of a path or as a value of a query.
    package static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    /// A path with a query of the values that are present.
    package static func with(_ path: String, _ query: KeyValuePairs<String, String?>) -> String {
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }
}
