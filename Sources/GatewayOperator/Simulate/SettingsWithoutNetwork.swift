// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import GatewayConfiguration
import Host
import Primitives
import SIPCore
import SIPTransport

extension HeraldConfiguration {
    /// The settings of the call path, without sockets, name servers and state.
    ///
    /// - Parameter hops: `standInHops`.
    /// - Throws: `CommandFailure` for a configuration that the gateway would not start with.
    func settingsWithoutNetwork(_ hops: [NextHopName: [ResolvedHop]]) throws -> GatewaySettings {
        let foundation = GatewayFoundation(
            bound: try listen.map { try $0.address.peer() }, secret: Secret(key0: 1, key1: 2),
            health: TargetRegistry(), trunks: TrunkRegister(), mostTransactions: 100)
        return try CommandFailure.reported {
            try gatewaySettings(on: foundation, ResolvedPeers(self, hops), at: 0)
        }
    }

    /// Addresses in place of names of next hops, since a simulation asks no name server.
    ///
    /// They are of 192.0.0.0/24, which no network uses (RFC 6890).
    var standInHops: [NextHopName: [ResolvedHop]] {
        let names = nextHopNames.enumerated().map { position, name in
            let address = PeerAddress(
                ipv4: 0xC000_0000 + UInt32(position % 250 + 2), port: name.port ?? name.transport.defaultPort)
            return (name, [ResolvedHop(address: address, priority: 0, weight: 0)])
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }
}
