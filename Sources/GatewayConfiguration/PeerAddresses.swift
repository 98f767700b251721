// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
import Host
package import SIPCore

extension EndpointAddress {
    /// The address in the form that the call path uses.
    ///
    /// - Throws: `CommandFailure` for a host that is no address literal.
    package func peer() throws -> PeerAddress {
        guard let address = PeerAddress(host: Array(host.utf8)[...], port: port) else {
            throw CommandFailure("\(self) is no IP address")
        }
        return address
    }
}

extension SourceRange {
    /// The range in the form that the call path uses.
    ///
    /// - Throws: `CommandFailure` for a host that is no address literal.
    package func source() throws -> PeerSource {
        guard let network = PeerAddress(host: Array(host.utf8)[...], port: port ?? 0) else {
            throw CommandFailure("\(host) is no IP address")
        }
        return PeerSource(network: network, prefixLength: prefixLength, port: port)
    }
}
