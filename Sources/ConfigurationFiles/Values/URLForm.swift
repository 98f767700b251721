// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Checks the form of configured URLs.
package enum URLForm {
    /// The form of a directory's URL in words.
    package static let text = "an http:// or https:// URL with a host, without user, query and fragment"

    /// True for a URL that a directory may have.
    package static func isDirectory(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else { return false }
        return (parts.scheme == "http" || parts.scheme == "https") && parts.user == nil && parts.password == nil
            && parts.query == nil && parts.fragment == nil
    }

    static let pages =
        "an http:// or https:// URL of at most 200 characters without query, at which people open the pages"

    static let header =
        "an http:// or https:// URL of at most 200 characters without query, reachable by phones"

    /// True for a directory URL that is also safe between the angle brackets of a header.
    static func isFitForHeader(_ text: String) -> Bool {
        isDirectory(text) && text.utf8.count <= 200
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !Array("<>\"\\^`{|}".utf8).contains($0) }
    }
}
