// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import SIPCore
import Synchronization

/// State that all workers of a gateway share.
///
/// Any thread; no worker waits for a slow thread in it.
package final class GatewayShared: Sendable {
    package let settings: CurrentSettings
    package let branding: CurrentBranding
    package let counters: GatewayCounters
    package let updates: UpdateRing
    /// Probes of targets by OPTIONS.
    package let probes: TargetProber
    /// Calls in progress.
    package let calls: CallsInProgress
    /// Rejected messages, for the log and the status page.
    package let rejections = RejectionTable()
    /// Copies messages for traces while somebody traces.
    package let trace = TraceTap()
    private let draining = Atomic<Bool>(false)

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

    /// True while the gateway stops: new calls and OPTIONS get 503, calls in progress go on.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Begins to drain; any thread.
    package func drain() { draining.store(true, ordering: .relaxed) }
}
