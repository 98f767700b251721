// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
package import CallPath
package import ConfigurationFiles
package import GatewayConfiguration
import SIPCore
import Synchronization

/// The live settings of a configuration, without sockets and threads.
package final class SettingsFixture: Sendable {
    package let folder: GatewayFolder
    package let configuration: HeraldConfiguration
    package let live: LiveSettings
    private let streams = PeerCounter()

    package init(_ folder: GatewayFolder, _ text: ConfigurationText) throws {
        self.folder = folder
        configuration = try folder.configuration(text)
        let bound = try configuration.listen.map { try $0.address.peer() }
        let foundation = GatewayFoundation(
            bound: bound, secret: Secret(key0: 1, key1: 2), health: TargetRegistry(), trunks: TrunkRegister(),
            mostTransactions: 1_000)
        live = try LiveSettings(configuration, on: foundation, now: { 1_000 }) { [streams] _ in streams.add() }
    }

    /// The settings in force.
    package var current: GatewaySettings { live.current.load() }
    /// How often streams got peers.
    package var peerChanges: Int { streams.count }

    /// What the workers share, on these settings.
    package func shared() throws -> GatewayShared {
        let branding = CurrentBranding(
            BrandingSnapshot(index: .empty(profile: configuration.renderingProfile), gates: BrandingGates()))
        return GatewayShared(
            settings: live.current, branding: branding, counters: GatewayCounters(),
            updates: try UpdateRing(inMemory: 64), probes: TargetProber(seed: 1), calls: CallsInProgress())
    }

    private final class PeerCounter: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }
}
