// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The shared state of one target: whether a proxy may choose it (RFC 3261 §16.5, §16.7 step 4).
///
/// Reading is one atomic load. Recording takes a lock for some stores, and none for a response of a healthy target. Any
/// thread.
public final class TargetState: Sendable {
    /// Group and address, for the log and the metrics.
    public let name: String
    /// `trunk carrier` or `pbx office`.
    public let group: String
    private let openFrom = Atomic<UInt64>(0)
    private let fitFrom = Atomic<UInt64>(0)
    private let isSpotless = Atomic<Bool>(true)
    /// Monotonic milliseconds of its last response to a call; 0 before the first.
    private let lastResponse = Atomic<UInt64>(0)
    /// The same of its last response to a probe.
    private let lastProbeResponse = Atomic<UInt64>(0)
    private let disabled = Atomic<Bool>(false)
    private let standingBy = Atomic<Bool>(false)
    private let open = Atomic<Int>(0)
    private let sent = Atomic<UInt64>(0)
    private let health: Mutex<TargetHealth>
    private let onChange: @Sendable (TargetState, TargetHealth.State, TargetHealth.Event) -> Void

    /// Starts a target as up; `onChange` runs on the thread of the event and must not wait.
    public init(
        name: String, group: String = "", rules: TargetHealthRules,
        onChange: @escaping @Sendable (TargetState, TargetHealth.State, TargetHealth.Event) -> Void = { _, _, _ in }
    ) {
        self.name = name
        self.group = group
        self.onChange = onChange
        health = Mutex(TargetHealth(rules: rules))
    }

    /// Changes the rules after a reload: a target without probes must not wait for a probe.
    public func use(_ rules: TargetHealthRules) {
        health.withLock { health in
            health.use(rules)
            publish(health)
        }
    }

    private func publish(_ health: borrowing TargetHealth) {
        let isDisabled = disabled.load(ordering: .relaxed)
        openFrom.store(isDisabled ? .max : health.openFrom, ordering: .relaxed)
        fitFrom.store(isDisabled ? .max : health.fitFrom, ordering: .relaxed)
        isSpotless.store(health.isSpotless, ordering: .relaxed)
    }

    /// True while the operator keeps it out of service, whatever its health.
    public var isDisabled: Bool { disabled.load(ordering: .relaxed) }

    /// Takes it out of service or back: new calls go to the other targets, and calls in progress stay.
    ///
    /// Its health is followed all the same. An emergency call still tries it if no other target is up.
    public func disable(_ isDisabled: Bool) {
        health.withLock { health in
            disabled.store(isDisabled, ordering: .relaxed)
            publish(health)
        }
    }

    /// True while the gateway does not have the address that this target is reached from.
    public var isStandingBy: Bool { standingBy.load(ordering: .relaxed) }

    /// Forgets what is known of the target when the gateway's address leaves or arrives; no event counts in between.
    ///
    /// Calls may go there all the time: a call proves that the address has arrived.
    public func standBy(_ isStandingBy: Bool) {
        health.withLock { health in
            guard standingBy.exchange(isStandingBy, ordering: .relaxed) != isStandingBy else { return }
            health.restart()
            publish(health)
        }
    }

    /// Calls in progress that were sent there; never negative.
    public var openCalls: Int { max(0, open.load(ordering: .relaxed)) }

    /// Calls that were sent there since the start, with those that went on to another target.
    public var sentCalls: UInt64 { sent.load(ordering: .relaxed) }

    /// Counts a call that is sent there.
    public func countCall() { sent.wrappingAdd(1, ordering: .relaxed) }

    /// Changes the number of its calls in progress by `difference`.
    public func addOpenCalls(_ difference: Int) { open.wrappingAdd(difference, ordering: .relaxed) }

    /// True when calls may go there at a monotonic time in milliseconds.
    public func isUp(at now: UInt64) -> Bool { openFrom.load(ordering: .relaxed) <= now }

    /// True when it counts as fit for a health check; a trial of a target that is down does not change that.
    public func isFit(at now: UInt64) -> Bool { fitFrom.load(ordering: .relaxed) <= now }

    /// Monotonic milliseconds of its last response to a call or a probe; nil before the first.
    public var lastReceivedAt: UInt64? {
        let last = max(lastResponse.load(ordering: .relaxed), lastProbeResponse.load(ordering: .relaxed))
        return last == 0 ? nil : last
    }

    /// The state, its begin, and the failure since the last response; no begin for a target that has been up since the start.
    ///
    /// Holds the lock for a copy of three values, so that a reader delays no thread of the call path.
    public var state: (state: TargetHealth.State, since: UInt64?, failure: TargetHealth.Failure?) {
        health.withLock { ($0.state, $0.changedAt, $0.failure) }
    }

    /// Records that it left a call without any response.
    ///
    /// A response to another call or a probe meanwhile excuses it: then this one call keeps it silent.
    ///
    /// - Parameters:
    ///   - waited: milliseconds without any response from which on the silence counts for its health.
    ///   - patience: the time that the call waited, from which on the silence shows in its state.
    public func recordSilence(of waited: UInt64, patience: UInt64, at now: UInt64) {
        let last = lastReceivedAt
        if last.map({ $0 + waited < now }) ?? true { return record(.silent, at: now) }
        guard last.map({ $0 + patience < now }) ?? true, !isStandingBy else { return }
        health.withLock { health in
            health.show(.silent, at: now)
            publish(health)
        }
    }

    /// Records an event of the target.
    public func record(_ event: TargetHealth.Event, at now: UInt64) {
        if event == .responded { lastResponse.store(now, ordering: .relaxed) }
        if event == .probeSucceeded { lastProbeResponse.store(now, ordering: .relaxed) }
        if isSpotless.load(ordering: .relaxed), event == .responded { return }
        if isStandingBy { return }
        let change = health.withLock { health in
            let change = health.receive(event, at: now)
            publish(health)
            return change
        }
        if let change { onChange(self, change, event) }
    }
}

/// All targets by name, so that a reload keeps the state of those that stay.
///
/// An order to keep a target out of service outlives its state: an address that leaves DNS and returns is still disabled.
public final class TargetRegistry: Sendable {
    /// Receives the registry, the target, its state and the event.
    public typealias Observer =
        @Sendable (TargetRegistry, TargetState, TargetHealth.State, TargetHealth.Event) -> Void

    private struct Known {
        var states: [String: TargetState] = [:]
        /// Names of disabled targets.
        var disabled: Set<String>
    }

    private let known: Mutex<Known>
    private let onChange: Observer

    /// Makes an empty registry; `onChange` runs when a target starts or ceases to get calls, and must not wait.
    ///
    /// - Parameter disabled: names of targets that the operator keeps out of service.
    public init(disabled: Set<String> = [], onChange: @escaping Observer = { _, _, _, _ in }) {
        known = Mutex(Known(disabled: disabled))
        self.onChange = onChange
    }

    /// The state of a target, made on first use; a known one gets these rules.
    public func targetState(_ name: String, group: String = "", rules: TargetHealthRules) -> TargetState {
        known.withLock { known in
            if let state = known.states[name] {
                state.use(rules)
                return state
            }
            let state = TargetState(name: name, group: group, rules: rules) { [weak self] in
                if let self { onChange(self, $0, $1, $2) }
            }
            if known.disabled.contains(name) { state.disable(true) }
            known.states[name] = state
            return state
        }
    }

    /// Removes targets that are not configured any more.
    public func keep(_ names: Set<String>) {
        known.withLock { known in known.states = known.states.filter { names.contains($0.key) } }
    }

    /// Takes a target out of service or back, also for the time after it leaves the configuration and returns.
    public func disable(_ target: TargetState, _ isDisabled: Bool) {
        known.withLock { known in
            if isDisabled { known.disabled.insert(target.name) } else { known.disabled.remove(target.name) }
            target.disable(isDisabled)
        }
    }

    /// The names of disabled targets, with those that have no address at present.
    public var disabled: Set<String> { known.withLock { $0.disabled } }

    /// Forgets the orders for targets that are not configured any more, and returns their names.
    public func forgetDisabled(unless isConfigured: (String) -> Bool) -> [String] {
        known.withLock { known in
            let gone = known.disabled.filter { !isConfigured($0) }
            known.disabled.subtract(gone)
            return gone.sorted()
        }
    }

    /// True when another target of its group takes calls.
    public func hasOther(than targetState: TargetState, at now: UInt64) -> Bool {
        all.contains { $0.group == targetState.group && $0 !== targetState && $0.isUp(at: now) }
    }

    /// Every target, by name; sorted outside the lock.
    public var all: [TargetState] {
        let targets = known.withLock { Array($0.states.values) }
        return targets.sorted { $0.name < $1.name }
    }
}
