// SPDX-License-Identifier: Apache-2.0

/// Names of the small copies of uploaded logos.
///
/// The row of a copy begins with a dot, which no uploaded logo may have. So no upload replaces a copy, and no list shows it.
package enum LogoThumbnail {
    /// The most pixels of a side.
    static let side = 256

    private static let ending = "_thumb"

    /// The name of a logo's copy, such as `acme_thumb.png`; nil if the name would be too long.
    package static func name(of logo: String) -> String? {
        let (stem, type) = parts(logo)
        let name = "\(stem)\(ending)\(type)"
        return name.utf8.count < 128 ? name : nil
    }

    /// The name in the store by the name of the copy; nil for a name of another form.
    static func row(of name: String) -> String? { parts(name).stem.hasSuffix(ending) ? "." + name : nil }

    private static func parts(_ name: String) -> (stem: Substring, type: Substring) {
        guard let dot = name.lastIndex(of: ".") else { return (name[...], "") }
        return (name[..<dot], name[dot...])
    }
}
