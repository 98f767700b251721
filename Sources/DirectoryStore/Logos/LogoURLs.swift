// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// Maps the plain file names of logos to the URLs that clients get, as of one moment.
package struct LogoURLs: Hashable, Sendable {
    /// The server's own URL without a slash at its end; nil when it has no logos, or no address that clients can reach.
    package var base: String?
    /// What follows the name in the URL, for each logo that the server has.
    package var endings: [String: String] = [:]
    /// True where the files are on another server behind `public_url`, so that every name gets a URL.
    package var includesUnknown = false

    package init(base: String? = nil, endings: [String: String] = [:], includesUnknown: Bool = false) {
        self.base = base
        self.endings = endings
        self.includesUnknown = includesUnknown
    }

    /// The URL of an entry's logo; nil for none, and for a file that the server does not have.
    package func url(of logo: String?) -> String? {
        guard let logo, !Self.isURL(logo) else { return logo }
        guard let base, let ending = endings[logo] ?? (includesUnknown ? "" : nil) else { return nil }
        return "\(base)/logos/\(logo)\(ending)"
    }

    package func resolved(_ item: BrandingItem) -> BrandingItem {
        var item = item
        item.logoURL = url(of: item.logoURL)
        return item
    }

    /// True for a logo on another server, false for the plain name of a file.
    static func isURL(_ logo: String) -> Bool { logo.utf8.contains("://".utf8) }

    /// An SQL condition that holds for plain file names.
    static func isPlainName(_ column: String) -> String { "\(column) IS NOT NULL AND instr(\(column), '://') = 0" }
}
