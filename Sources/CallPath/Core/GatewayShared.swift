// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import SIPCore
import Synchronization

/// What all workers of a gateway share; safe from any thread, nothing in it makes a worker wait for a slow one.
package final class GatewayShared: Sendable {
    package let settings: CurrentSettings
    package let branding: CurrentBranding
    package let counters: GatewayCounters
    package let signals: SignalRing
    /// Who asks targets whether they are there.
    package let probes: TargetProber
    /// Calls that have begun and not ended.
    package let calls: CallsInProgress
    /// What was rejected, for the log and the status page.
    package let rejections = RejectionTable()
    private let draining = Atomic<Bool>(false)

    package init(
        settings: CurrentSettings, branding: CurrentBranding, counters: GatewayCounters, signals: SignalRing,
        probes: TargetProber, calls: CallsInProgress
    ) {
        self.settings = settings
        self.branding = branding
        self.counters = counters
        self.signals = signals
        self.probes = probes
        self.calls = calls
    }

    /// True from the request to stop on: no new calls, OPTIONS answered 503, calls in progress go on.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Begins to drain; any thread.
    package func drain() { draining.store(true, ordering: .relaxed) }
}
