// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// Maps plain logo file names to the URLs for clients, as of one moment.
package struct LogoURLs: Hashable, Sendable {
    /// The server's own URL without a trailing slash; nil without logos, or without an address that clients can reach.
    package var base: String?
    /// The suffix after the name in the URL, for each logo of the server.
    package var endings: [String: String] = [:]
    /// True for files on another server behind `public_url`, where every name gets a URL.
    package var includesUnknown = false

    package init(base: String? = nil, endings: [String: String] = [:], includesUnknown: Bool = false) {
        self.base = base
        self.endings = endings
        self.includesUnknown = includesUnknown
    }

    /// The URL of an entry's logo; nil for no logo, and for a missing file.
    package func url(of logo: String?) -> String? {
        guard let logo, !Self.isURL(logo) else { return logo }
        guard let base, let ending = endings[logo] ?? (includesUnknown ? "" : nil) else { return nil }
        return "\(base)/logos/\(logo)\(ending)"
    }

    /// The URL of a logo's small copy; a path without an address that clients can reach.
    ///
    /// It has the ending of the logo's URL, so that clients fetch both again after a change.
    package func url(ofCopy copy: String, of logo: String) -> String {
        "\(base ?? "")/logos/\(copy)\(endings[logo] ?? "")"
    }

    package func resolved(_ item: BrandingItem) -> BrandingItem {
        var item = item
        item.logoURL = url(of: item.logoURL)
        return item
    }

    /// True for a logo on another server, false for the plain name of a file.
    static func isURL(_ logo: String) -> Bool { logo.utf8.contains("://".utf8) }

    /// An SQL condition that is true for plain file names.
    static func isPlainName(_ column: String, _ database: any SQLConnection) -> String {
        "\(column) IS NOT NULL AND \(database.dialect.place(of: "://", in: column)) = 0"
    }
}
