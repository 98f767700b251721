// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
package import Host
package import SIPCore

/// The parts of the call path that outlive a reload: addresses, the secret, and the state of targets and trunks.
package struct GatewayFoundation: Sendable {
    /// The addresses of the open sockets, in the order of `listen`.
    package let bound: [PeerAddress]
    package let secret: Secret
    package let health: TargetRegistry
    package let trunks: TrunkRegister
    /// Largest number of transactions held at once.
    package let mostTransactions: Int
    /// A customer as the call path sees it; none where no call has a customer, as in a simulation.
    package var customer: @Sendable (HeraldConfiguration.Customer) -> CallCustomer?

    /// - Parameters:
    ///   - bound: the addresses of the open sockets, in the order of `listen`.
    ///   - mostTransactions: largest number of transactions held at once.
    package init(
        bound: [PeerAddress], secret: Secret, health: TargetRegistry, trunks: TrunkRegister, mostTransactions: Int,
        customer: @escaping @Sendable (HeraldConfiguration.Customer) -> CallCustomer? = { _ in nil }
    ) {
        self.bound = bound
        self.secret = secret
        self.health = health
        self.trunks = trunks
        self.mostTransactions = mostTransactions
        self.customer = customer
    }
}

extension HeraldConfiguration {
    /// Builds the settings of the call path.
    ///
    /// - Parameters:
    ///   - old: the topology that is replaced; its peers may still have calls.
    ///   - test: the caller of a test call; nil without one.
    ///   - now: milliseconds of the monotonic clock.
    package func gatewaySettings(
        on foundation: GatewayFoundation, _ resolved: ResolvedPeers, succeeding old: GatewayTopology? = nil,
        testedBy test: TestCaller? = nil, at now: UInt64
    ) throws -> GatewaySettings {
        let longestCall = UInt64(outcomes.maxCallDuration / .milliseconds(1))
        var topology = try topology(on: foundation, resolved)
        if let old { topology = topology.succeeding(old, at: now, longestCall: longestCall) }
        if let test = test.flatMap({ testTrunk($0, in: topology) }) { topology = topology.testing(test) }
        foundation.health.keep(Set(topology.groups.flatMap(\.targets).map(\.targetState.name)))
        return GatewaySettings(
            topology: topology, secret: cluster?.secret ?? foundation.secret, isClustered: cluster != nil,
            timers: TransactionTimers(t1: timers.t1, t2: timers.t2, t4: timers.t4, c: timers.c),
            targetPatience: health.patience, lastPatience: health.lastPatience, probes: probeRules,
            longestCall: longestCall,
            limits: SIPLimits(messageBytes: limits.maxMessage, headerFields: limits.maxHeaders),
            mostTransactions: foundation.mostTransactions, strangers: strangers,
            brands: branding.isEnabled, writesCallInfo: branding.writesCallInfo,
            writesCardLink: branding.cardLink == .callInfo, answerers: outcomes.answerers, verstat: branding.verstat,
            reportsPBX: health.reportsPBX)
    }

    private func topology(on foundation: GatewayFoundation, _ resolved: ResolvedPeers) throws -> GatewayTopology {
        let sockets = zip(listen, foundation.bound).enumerated().map { position, pair in
            socket(position, pair.0, bound: pair.1)
        }
        let pbxs = try pbx.map { try peer($0, on: foundation, resolved) }
        let trunks = try trunks.map { try peer($0, to: pbxs[$0.pbx], on: foundation, resolved) }
        return GatewayTopology(
            sockets: sockets, trunks: trunks, pbxs: pbxs, routes: callRoutes(to: pbxs, on: foundation))
    }

    /// A listening address as Via and Record-Route show it: its own `advertise`, else the route of the cluster.
    private func socket(_ position: Int, _ listener: Listener, bound: PeerAddress) -> LocalSocket {
        let names = listener.names.map { OwnName(host: $0.host, port: $0.hasPort ? $0.port : nil) }
        let route = cluster?.route.flatMap { $0.isName || $0.isIPv6 == bound.isIPv6 ? $0 : nil }
        return LocalSocket(
            position: position, address: bound, transport: listener.transport,
            advertisedHost: listener.advertise?.host ?? route?.host,
            advertisedPort: listener.advertise?.port ?? route.flatMap { $0.hasPort ? $0.port : nil },
            routesByName: listener.advertise == nil && route.map { $0.isName && !$0.hasPort } ?? false,
            names: names + (cluster?.names ?? []))
    }

    /// When OPTIONS are sent to targets.
    var probeRules: TargetProbes.Rules {
        var rules = TargetProbes.Rules()
        rules.interval = UInt64(health.interval / .milliseconds(1))
        rules.timeout = UInt64(health.timeout / .milliseconds(1))
        return rules
    }

    /// The memory of transactions and connections.
    package func budget(of memory: MemoryLimit) -> TransactionBudget {
        TransactionBudget(
            configured: limits.maxTransactions, memory: memory.bytes,
            hasStreams: listen.contains { $0.transport != .udp })
    }
}
