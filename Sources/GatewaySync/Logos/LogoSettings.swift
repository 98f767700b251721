// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import Foundation
package import Host

/// Permitted hosts, limits and forms of logos.
package struct LogoSettings: Sendable {
    /// Permitted hosts: `host` for the scheme's default port or `host:port`, in lower case.
    package var hosts: Set<String>
    package var forms: LogoForms
    /// Permits addresses of private networks and of the machine itself.
    package var allowsPrivate = false
    package var allowsHTTP = false
    /// Largest picture in bytes.
    package var maxFile = 512 << 10
    /// Largest picture in pixels; a decoder holds all of them in memory.
    package var maxPixels = 4 << 20
    /// Longest time for a whole fetch, the last byte included.
    package var timeout: Duration = .seconds(10)
    /// Time between two checks of a logo, spread by ± 20 %.
    package var refresh: Duration = .seconds(86_400)
    /// Concurrent fetches.
    package var concurrency = 2
    /// Pause between two rounds.
    package var pause: Duration = .seconds(60)
    /// Least time between two index builds while logos arrive.
    package var publishInterval: Duration = .seconds(300)
    /// The first round starts at a random time within this span, so that gateways started together spread their
    /// requests.
    package var startSpread: Duration = .seconds(20)
    /// Waits after failures of one logo, spread by ± 20 %.
    package var backoff = Backoff(first: .seconds(300), limit: .seconds(86_400))
    /// Herald's own version, for `User-Agent`.
    package var version: String

    package init(hosts: Set<String>, forms: LogoForms, version: String) {
        self.hosts = hosts
        self.forms = forms
        self.version = version
    }
}

/// The parts of a logo's URL that the settings permit.
struct LogoOrigin: Hashable, Sendable {
    /// The URL with its host in lower case. The fixed address is looked up by this name.
    let url: String
    /// The name for the certificate; IPv6 without brackets.
    let host: String

    /// - Throws: `badURL`, `insecure` or `hostNotAllowed`.
    init(_ url: String, _ settings: LogoSettings) throws(LogoProblem) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), var parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let name = parts.percentEncodedHost?.lowercased(), Self.isHost(name), parts.user == nil,
            parts.password == nil
        else { throw .badURL }
        guard scheme == "https" || settings.allowsHTTP else { throw .insecure }
        let usual = scheme == "https" ? 443 : 80
        let port = parts.port ?? usual
        let isUsual = port == usual
        guard isUsual && settings.hosts.contains(name) || settings.hosts.contains("\(name):\(port)") else {
            throw .hostNotAllowed(ServerText.clean(isUsual ? name : "\(name):\(port)"))
        }
        parts.scheme = scheme
        parts.percentEncodedHost = name
        guard let text = parts.string else { throw .badURL }
        self.url = text
        host = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
    }

    /// True for an unambiguous host. Two parsers read it, and only one of them knows the checked address.
    private static func isHost(_ name: String) -> Bool {
        if name.hasPrefix("["), name.hasSuffix("]") {
            return LogoAddress(String(name.dropFirst().dropLast()))?.isIPv6 == true
        }
        return !name.isEmpty
            && name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
    }
}
