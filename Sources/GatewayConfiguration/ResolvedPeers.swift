// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import SIPCore
package import SIPTransport

/// The targets of a configuration with their resolved addresses.
package struct ResolvedPeers {
    private let configuration: HeraldConfiguration
    private let hops: [NextHopName: [ResolvedHop]]

    package init(_ configuration: HeraldConfiguration, _ hops: [NextHopName: [ResolvedHop]]) {
        self.configuration = configuration
        self.hops = hops
    }

    /// The addresses of a target; empty for a name that has never been resolved.
    package func addresses(of target: HeraldConfiguration.Target) throws -> [ResolvedHop] {
        guard target.address.isName else {
            return [ResolvedHop(address: try target.address.peer(), priority: 0, weight: 0)]
        }
        return hops[configuration.name(of: target)] ?? []
    }

    /// Expected certificate names by address, for targets that TLS connections go to.
    package var serverNames: [PeerAddress: String] {
        var names: [PeerAddress: String] = [:]
        for target in configuration.allTargets {
            guard let name = target.certificateName ?? (target.address.isName ? target.address.host : nil) else {
                continue
            }
            for hop in (try? addresses(of: target)) ?? [] { names[hop.address] = name }
        }
        return names
    }
}

extension HeraldConfiguration {
    /// The targets of all trunks and PBXs.
    fileprivate var allTargets: [Target] { trunks.flatMap(\.targets) + pbx.flatMap(\.targets) }

    /// The names to resolve, each once.
    package var nextHopNames: [NextHopName] {
        var seen: Set<NextHopName> = []
        return allTargets.filter(\.address.isName).map(name).filter { seen.insert($0).inserted }
    }

    /// The name of a target with the transport of its listen entry, which selects the SRV record.
    fileprivate func name(of target: Target) -> NextHopName {
        NextHopName(
            host: target.address.host, port: target.address.hasPort ? target.address.port : nil,
            transport: listen[target.listener].transport)
    }

    /// The address families of the listen entries; the gateway can send to no other.
    package var addressFamilies: AddressFamilies {
        var families: AddressFamilies = []
        if listen.contains(where: { !$0.address.isIPv6 }) { families.insert(.ipv4) }
        if listen.contains(where: \.address.isIPv6) { families.insert(.ipv6) }
        return families
    }
}
