// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import CheckedHTTP
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
    let url: FetchURL
    /// The name for the certificate; IPv6 without brackets.
    var host: String { url.host }

    /// - Throws: `badURL`, `insecure` or `hostNotAllowed`.
    init(_ text: String, _ settings: LogoSettings) throws(LogoProblem) {
        guard let url = FetchURL(text) else { throw .badURL }
        guard url.scheme == "https" || settings.allowsHTTP else { throw .insecure }
        let name = url.name
        guard url.hasUsualPort && settings.hosts.contains(name) || settings.hosts.contains("\(name):\(url.port)") else {
            throw .hostNotAllowed(ServerText.clean(url.hasUsualPort ? name : "\(name):\(url.port)"))
        }
        self.url = url
    }
}
