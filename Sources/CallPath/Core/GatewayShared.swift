// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import SIPCore
import Synchronization

/// State that all workers of a gateway share. Any thread; no worker waits for a slow thread in it.
package final class GatewayShared: Sendable {
    package let settings: CurrentSettings
    package let branding: CurrentBranding
    package let counters: GatewayCounters
    package let updates: UpdateRing
    /// Probes of targets by OPTIONS.
    package let probes: TargetProber
    /// Listening addresses that another machine has at present.
    package let away = AwaySockets()
    /// Calls in progress.
    package let calls: CallsInProgress
    /// Rejected messages, for the log and the status page.
    package let rejections = RejectionTable()
    /// Copies messages for traces while somebody traces.
    package let trace = TraceTap()
    private let draining = Atomic<Draining>(.off)

    package init(
        settings: CurrentSettings, branding: CurrentBranding, counters: GatewayCounters, updates: UpdateRing,
        probes: TargetProber, calls: CallsInProgress
    ) {
        self.settings = settings
        self.branding = branding
        self.counters = counters
        self.updates = updates
        self.probes = probes
        self.calls = calls
    }

    /// Why new calls are rejected.
    private enum Draining: UInt8, AtomicRepresentable {
        case off
        /// The operator can take it back.
        case ordered
        case stopping
    }

    /// True while the gateway stops or drains: new calls and OPTIONS get 503, calls in progress go on.
    package var isDraining: Bool { draining.load(ordering: .relaxed) != .off }

    /// Begins to drain for a stop; any thread.
    package func drain() { draining.store(.stopping, ordering: .relaxed) }

    /// Begins to drain or takes calls again, by order of the operator; any thread.
    ///
    /// - Returns: false for a gateway that stops, which drains to its end.
    package func orderDrain(_ isOn: Bool) -> Bool {
        let (before, after): (Draining, Draining) = isOn ? (.off, .ordered) : (.ordered, .off)
        let result = draining.compareExchange(expected: before, desired: after, ordering: .relaxed)
        return result.exchanged || result.original == after
    }
}
