// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
import SIPCore
package import SIPTransport
import Synchronization

/// The current settings of the call path, rebuilt when the configuration or a resolved name changes; any thread.
package final class LiveSettings: Sendable {
    private struct State {
        var configuration: HeraldConfiguration
        var hops: [NextHopName: [ResolvedHop]] = [:]
        /// The caller of a test call; nil without one.
        var test: TestCaller?
    }

    /// The settings that the call path reads.
    package let current: CurrentSettings
    private let foundation: GatewayFoundation
    private let state: Mutex<State>
    /// Receives the peers of each new configuration, for TCP and TLS.
    private let onPeers: @Sendable (StreamPeers) -> Void
    /// Milliseconds of the monotonic clock.
    private let now: @Sendable () -> UInt64

    package init(
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

    /// The configuration in force.
    package var configuration: HeraldConfiguration { state.withLock { $0.configuration } }

    /// Applies another configuration.
    ///
    /// - Throws: when it cannot be applied; the current one stays in force.
    package func use(_ configuration: HeraldConfiguration) throws {
        try state.withLock { state in
            try apply(configuration, state.hops, state.test)
            state.configuration = configuration
        }
    }

    /// Applies other addresses to the names of the configuration.
    package func use(_ hops: [NextHopName: [ResolvedHop]]) {
        state.withLock { state in
            state.hops = hops
            // The configuration is valid already; other addresses cannot make it invalid.
            try? apply(state.configuration, hops, state.test)
        }
    }

    /// Admits the caller of a test call, or none any more; reloads keep it.
    package func use(_ test: TestCaller?) {
        state.withLock { state in
            state.test = test
            try? apply(state.configuration, state.hops, test)
        }
    }

    private func apply(
        _ configuration: HeraldConfiguration, _ hops: [NextHopName: [ResolvedHop]], _ test: TestCaller?
    ) throws {
        let peers = ResolvedPeers(configuration, hops)
        let settings = try configuration.gatewaySettings(
            on: foundation, peers, succeeding: current.load().topology, testedBy: test, at: now())
        // Streams come first: a new connection needs the certificate name of its address.
        onPeers(StreamPeers(peers, settings.topology))
        current.store(settings)
    }
}

extension StreamPeers {
    fileprivate init(_ peers: ResolvedPeers, _ topology: GatewayTopology) {
        self.init(serverNames: peers.serverNames) { topology.number(ofPeerAt: $0) }
    }
}
