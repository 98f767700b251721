// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Synchronization

/// The settings of a server that a reload changes.
package struct ServerPolicies: Hashable, Sendable {
    /// None by default; the program sets them from its configuration.
    package var rateLimits = RateLimits.none
    /// The settings in `GET mobile/config`.
    package var clients = ClientSettings()
    /// The apps that open the links of this server.
    package var links = AppLinks()
    /// Days after which events, imprints and debug uploads are removed.
    package var keepDays = 400

    package init() {}
}

/// The policies in force; each request reads them once.
///
/// Any thread.
final class CurrentPolicies: Sendable {
    private let state: Mutex<ServerPolicies>

    init(_ policies: ServerPolicies) { state = Mutex(policies) }

    /// The policies in force.
    var value: ServerPolicies { state.withLock { $0 } }

    /// Puts others in force.
    func use(_ policies: ServerPolicies) { state.withLock { $0 = policies } }
}
