// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Host
import SIPCore
import SIPTransport

/// Finds the addresses of peers' names, and the addresses of this machine that face them.
struct PeerReach: Sendable {
    /// The addresses of a name, IPv6 without brackets; at least one.
    var resolve: @Sendable (EndpointAddress) async throws(SetupProblem) -> [String]
    /// The address from which the machine sends to another one; nil without a route.
    var own: @Sendable (_ host: String) -> String?
    /// True for an address of this machine.
    var isLocal: @Sendable (_ host: String) -> Bool

    /// The name servers and routes of this machine.
    static let system = PeerReach(
        resolve: { name async throws(SetupProblem) in try await addresses(of: name) },
        own: { OwnSocketAddress.towards($0) },
        isLocal: { LocalAddresses()?.has($0) ?? false })

    /// Looks the name up as the gateway does, with SRV records for a name without a port.
    private static func addresses(of name: EndpointAddress) async throws(SetupProblem) -> [String] {
        let hop = NextHopName(host: name.host, port: name.hasPort ? name.port : nil, transport: .udp)
        let found: NextHopResponse
        do throws(NextHopFailure) {
            found = try await NextHopResolution(families: [.ipv4, .ipv6]).resolve(
                hop, using: SystemNameLookup(settings: .init()))
        } catch {
            throw SetupProblem("\(error); write addresses instead of the name")
        }
        // Of a host with addresses of both families one side is enough, and most carriers mean IPv4.
        let hosts = found.hops.map(\.address)
        let chosen = hosts.contains { !$0.isIPv6 } ? hosts.filter { !$0.isIPv6 } : hosts
        guard !chosen.isEmpty else { throw SetupProblem("\(name.host) declines SIP in its SRV records") }
        return chosen.map(\.bareHostText).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
