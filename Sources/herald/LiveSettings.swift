// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import SIPCore
import SIPTransport
import Synchronization

/// The settings of the call path as configuration and names make them, put in force whenever one of both changes.
final class LiveSettings: Sendable {
    private struct State {
        var configuration: HeraldConfiguration
        var hops: [NextHopName: [ResolvedHop]] = [:]
    }

    let current: CurrentSettings
    private let foundation: GatewayFoundation
    private let state: Mutex<State>
    /// Told whom streams know.
    private let onPeers: @Sendable (StreamPeers) -> Void
    /// Milliseconds of the monotonic clock.
    private let now: @Sendable () -> UInt64

    init(
        _ configuration: HeraldConfiguration, on foundation: GatewayFoundation,
        now: @escaping @Sendable () -> UInt64 = { Moment.now().milliseconds },
        onPeers: @escaping @Sendable (StreamPeers) -> Void
    ) throws {
        self.foundation = foundation
        self.now = now
        self.onPeers = onPeers
        let peers = ResolvedPeers(configuration, [:])
        let settings = try configuration.gatewaySettings(on: foundation, peers, at: now())
        current = CurrentSettings(settings)
        state = Mutex(State(configuration: configuration))
        onPeers(StreamPeers(peers, settings.topology))
    }

    /// Puts another configuration in force.
    ///
    /// - Throws: when it cannot be; the old one stays.
    func use(_ configuration: HeraldConfiguration) throws {
        try state.withLock { state in
            try put(configuration, state.hops)
            state.configuration = configuration
        }
    }

    /// Puts other addresses in force for the names of the configuration.
    func use(_ hops: [NextHopName: [ResolvedHop]]) {
        state.withLock { state in
            state.hops = hops
            // The configuration was accepted before: other addresses do not make it wrong.
            try? put(state.configuration, hops)
        }
    }

    private func put(_ configuration: HeraldConfiguration, _ hops: [NextHopName: [ResolvedHop]]) throws {
        let peers = ResolvedPeers(configuration, hops)
        let settings = try configuration.gatewaySettings(
            on: foundation, peers, succeeding: current.load().topology, at: now())
        // First, or a connection to a new address were made without knowing the name its certificate must carry.
        onPeers(StreamPeers(peers, settings.topology))
        current.store(settings)
    }
}

/// The targets of a configuration with the addresses their names stand for.
struct ResolvedPeers {
    private let configuration: HeraldConfiguration
    private let hops: [NextHopName: [ResolvedHop]]

    init(_ configuration: HeraldConfiguration, _ hops: [NextHopName: [ResolvedHop]]) {
        self.configuration = configuration
        self.hops = hops
    }

    /// The addresses of a target; none for a name that never had an answer.
    func addresses(of target: HeraldConfiguration.Target) throws -> [ResolvedHop] {
        guard target.address.isName else {
            return [ResolvedHop(address: try target.address.peer(), priority: 0, weight: 0)]
        }
        return hops[configuration.name(of: target)] ?? []
    }

    /// Certificate names by address, for targets reached by TLS.
    var serverNames: [PeerAddress: String] {
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

extension StreamPeers {
    fileprivate init(_ peers: ResolvedPeers, _ topology: GatewayTopology) {
        self.init(serverNames: peers.serverNames) { topology.mayBePeer(at: $0) }
    }
}

extension HeraldConfiguration {
    /// The targets of all trunks and PBXs.
    fileprivate var allTargets: [Target] { trunks.flatMap(\.targets) + pbx.flatMap(\.targets) }

    /// The names that have to be resolved, each once.
    var nextHopNames: [NextHopName] {
        var seen: Set<NextHopName> = []
        return allTargets.filter(\.address.isName).map(name).filter { seen.insert($0).inserted }
    }

    /// A target's name as it is resolved: by the transport of the address it is reached from.
    fileprivate func name(of target: Target) -> NextHopName {
        NextHopName(
            host: target.address.host, port: target.address.hasPort ? target.address.port : nil,
            transport: listen[target.listener].transport.kind)
    }

    /// Only families the gateway can send from are of use.
    var addressFamilies: AddressFamilies {
        var families: AddressFamilies = []
        if listen.contains(where: { !$0.address.isIPv6 }) { families.insert(.ipv4) }
        if listen.contains(where: \.address.isIPv6) { families.insert(.ipv6) }
        return families
    }
}

extension HeraldConfiguration.Transport {
    var kind: SIPTransportKind {
        switch self {
        case .udp: .udp
        case .tcp: .tcp
        case .tls: .tls
        }
    }
}
