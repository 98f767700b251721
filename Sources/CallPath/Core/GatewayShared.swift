// SPDX-License-Identifier: Apache-2.0

public import CallAccounting
import SIPCore
import Synchronization

/// State that all workers of a gateway share. Any thread; no worker waits for a slow thread in it.
///
/// A structure of references: its owner reaches each part without a reference count.
public struct GatewayShared: Sendable {
    public let settings: CurrentSettings
    public let branding: CurrentBranding
    public let counters: GatewayCounters
    public let updates: UpdateRing
    /// Probes of targets by OPTIONS.
    public let probes: TargetProber
    /// Listening addresses that another machine has at present.
    public let away = AwaySockets()
    /// Calls in progress.
    public let calls: CallsInProgress
    /// Rejected messages, for the log and the status page.
    public let rejections = RejectionTable()
    /// The verification of signed calls.
    public let trust: GatewayTrust
    /// Copies messages for traces while somebody traces.
    public let trace = TraceTap()
    private let drainState = DrainState()

    public init(
        settings: CurrentSettings, branding: CurrentBranding, counters: GatewayCounters, updates: UpdateRing,
        probes: TargetProber, calls: CallsInProgress, trust: GatewayTrust = GatewayTrust()
    ) {
        self.trust = trust
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

    private final class DrainState: Sendable { let draining = Atomic<Draining>(.off) }

    /// True while the gateway stops or drains: new calls and OPTIONS get 503, calls in progress go on.
    public var isDraining: Bool { drainState.draining.load(ordering: .relaxed) != .off }

    /// Begins to drain for a stop; any thread.
    public func drain() { drainState.draining.store(.stopping, ordering: .relaxed) }

    /// Begins to drain or takes calls again, by order of the operator; any thread.
    ///
    /// - Returns: false for a gateway that stops, which drains to its end.
    public func orderDrain(_ isOn: Bool) -> Bool {
        let (before, after): (Draining, Draining) = isOn ? (.off, .ordered) : (.ordered, .off)
        let result = drainState.draining.compareExchange(expected: before, desired: after, ordering: .relaxed)
        return result.exchanged || result.original == after
    }
}
