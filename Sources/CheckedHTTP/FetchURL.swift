// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An http or https URL without user information whose host two parsers read alike.
///
/// The HTTP client looks the checked address up by the name of the host.
package struct FetchURL: Hashable, Sendable {
    /// The URL with scheme and host in lower case.
    package let text: String
    /// `https` or `http`.
    package let scheme: String
    /// The host in lower case; IPv6 in brackets.
    package let name: String
    /// The port, also one that the text leaves out.
    package let port: Int

    /// The name for the certificate; IPv6 without brackets.
    package var host: String { name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name }

    /// True for the port that the scheme has by default.
    package var hasUsualPort: Bool { port == (scheme == "https" ? 443 : 80) }

    /// Nil for any other text.
    package init?(_ url: String) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), var parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let name = parts.percentEncodedHost?.lowercased(), Self.isHost(name), parts.user == nil,
            parts.password == nil
        else { return nil }
        parts.scheme = scheme
        parts.percentEncodedHost = name
        guard let text = parts.string else { return nil }
        self.text = text
        self.scheme = scheme
        self.name = name
        port = parts.port ?? (scheme == "https" ? 443 : 80)
    }

    /// True for an unambiguous host. Two parsers read it, and only one of them knows the checked address.
    private static func isHost(_ name: String) -> Bool {
        if name.hasPrefix("["), name.hasSuffix("]") {
            return HostAddress(String(name.dropFirst().dropLast()))?.isIPv6 == true
        }
        return !name.isEmpty
            && name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
    }
}
