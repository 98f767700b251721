// SPDX-License-Identifier: Apache-2.0

package import Branding

/// A link that opens a client's app at a brand, a call or a number, such as `herald://brand/acme-bank`.
///
/// The path is `/` and one segment. Bytes outside the unreserved characters of RFC 3986 §2.3 are escaped, except the
/// plus sign of a number.
package struct DeepLink: Hashable, Sendable {
    /// The things that a link can open.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The identifier is a `brand_id`.
        case brand
        /// The identifier is the `call_event_id` of the call's events, or without one the `event_id` of an event.
        case call
        /// The identifier is a number in E.164 with plus sign.
        case number
    }

    package let kind: Kind
    /// The identifier, unescaped.
    package let id: String

    /// Creates a link; nil for an empty identifier, and for `.` and `..`, which clients resolve as path segments.
    package init?(_ kind: Kind, _ id: String) {
        guard !id.isEmpty, id != ".", id != ".." else { return nil }
        self.kind = kind
        self.id = id
    }

    package init(number: E164Number) { (kind, id) = (.number, number.description) }

    /// The link in an app's scheme, without `://`.
    package func text(scheme: String) -> String {
        let plus = kind == .number && id.hasPrefix("+") ? "+" : ""
        return "\(scheme)://\(kind.rawValue)/\(plus)\(Self.segment(String(id.dropFirst(plus.count))))"
    }

    /// A text as one path segment.
    static func segment(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}

/// The public pages of brands below a directory's `public_url`.
package enum CardURL {
    /// The URL of a brand's card; nil for an identifier that no path segment can have.
    ///
    /// - Parameter base: the directory's `public_url`, with or without a slash at its end.
    package static func text(base: String, brandID: String) -> String? {
        text(template: template(base: base), brandID: brandID)
    }

    /// The template of all cards: a URL with `{brand_id}` (RFC 6570 level 1), which gateways check as `CardLinks`.
    package static func template(base: String) -> String {
        "\(base)\(base.hasSuffix("/") ? "" : "/")b/\(variable)"
    }

    /// The URL that a template gives a brand; nil for an identifier that no path segment can have.
    package static func text(template: String, brandID: String) -> String? {
        guard DeepLink(.brand, brandID) != nil else { return nil }
        return template.replacing(variable, with: DeepLink.segment(brandID))
    }

    private static let variable = "{brand_id}"
}
