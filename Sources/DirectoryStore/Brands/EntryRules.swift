// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation

/// The rules for the fields of a brand and of a number; the limits are the contract's.
///
/// Names, call reasons, brand identifiers and logos with an invisible character are refused. Such a name can show other
/// text than its bytes have, or look like another name. It comes from web pages and from fraud. The gateway strips
/// these characters before a phone shows them, so only a refusal shows the operator the mistake. Stored names stay
/// until they change.
package enum EntryRules {
    /// The fields with a limit, in characters.
    private static let limits = [
        "brand_name": FieldLimit.brandName, "logo_url": FieldLimit.logoURL, "call_reason": FieldLimit.callReason,
        "brand_id": 64,
    ]

    /// The problem of a field's text, beginning with the field's name; nil for a valid one.
    package static func problem(_ field: String, _ text: String) -> String? {
        if let limit = limits[field], text.count > limit { return "\(field) has more than \(limit) characters" }
        if let scalar = text.unicodeScalars.first(where: isHidden) {
            return "\(field) has \(named(scalar)); remove it"
        }
        if field == "logo_url", !isLogo(text) {
            return "logo_url is neither an http:// or https:// URL nor the plain name of a logo file"
        }
        return nil
    }

    /// Derives an identifier from a brand's letters and digits: `Acme Bank` gives `acme-bank`.
    ///
    /// - Returns: nil for a name without letters and digits.
    static func identifier(of name: String) -> String? {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.isEmpty ? nil : String(words.joined(separator: "-").prefix(64))
    }

    /// True for invisible characters that can change the display of the rest: controls, line breaks, and direction
    /// marks (UAX #9 §2).
    ///
    /// Joiners (U+200C, U+200D) are allowed, because Persian and emoji need them. The tag characters of flags are
    /// allowed too.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: ![0x200C, 0x200D].contains(scalar.value) && !(0xE0020...0xE007F).contains(scalar.value)
        default: false
        }
    }

    /// An invisible character by its code point and Unicode name.
    private static func named(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let name = scalar.properties.name.map { " (\($0))" } ?? ""
        return "the invisible character \(code)\(name)"
    }

    /// True for a URL that phones can fetch, and for the plain name of a logo file.
    private static func isLogo(_ text: String) -> Bool {
        if LogoRules.isPlainName(text) { return true }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), url.host()?.isEmpty == false else {
            return false
        }
        return ["http", "https"].contains(scheme) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3E }
    }
}
