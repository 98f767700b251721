// SPDX-License-Identifier: Apache-2.0

/// The rules by which a target counts as down and up again.
public struct TargetHealthRules: Hashable, Sendable {
    /// Probes in a row that must fail, 1 or more.
    public var downAfter = 3
    /// Probes in a row that must succeed, 1 or more.
    public var upAfter = 2
    /// Calls without any response inside `window` that mark it down without waiting for probes.
    public var silencesAllowed = 2
    /// Milliseconds in which silences count together.
    public var window: UInt64 = 30_000
    /// Milliseconds after which a target that calls marked down is tried again where nothing probes it.
    public var retrial: UInt64 = 30_000
    /// The same where calls could not reach it, which costs them no time; doubled with each trial up to `retrial`.
    public var retrialUnreached: UInt64 = 1_000
    /// Longest Retry-After that is honoured, in seconds; RFC 3261 §20.33 leaves it to the sender.
    public var longestRest = 120
    /// Whether a target that is down stays so until probes succeed.
    ///
    /// Not where nothing probes it, nor where its group has no other that could take the calls.
    public var probes = true
    /// Whether silence counts for a target that has never responded to a probe.
    ///
    /// Not where probes are not configured, since some PBXs ignore OPTIONS.
    public var trustsSilence = true

    public init() {}
}

/// The health of one target as a state machine: events with their time in, the state out.
///
/// One lost probe changes nothing. A target that keeps failing needs more successful probes in a row each time before it
/// gets calls again.
public struct TargetHealth: Hashable, Sendable {
    /// Whether the target gets calls.
    public enum State: Hashable, Sendable {
        case up
        case down
        /// It sent a 503 with Retry-After (RFC 3261 §21.5.4).
        case resting(until: UInt64)
    }

    /// An event of the target.
    public enum Event: Hashable, Sendable {
        /// A probe got any response but 408 and 503.
        case probeSucceeded
        /// A probe got no response.
        case probeFailed
        /// A probe got 408 or 503.
        case probeRefused(status: Int)
        /// A probe could not be delivered: a refused connection or no route.
        case probeUndelivered
        /// A request got any response but 503.
        case responded
        /// A request got 503, perhaps with a Retry-After in seconds.
        case refused(retryAfter: Int?)
        /// A request got no response.
        case silent
        /// A request did not reach it: a refused connection or no route.
        case unreachable
    }

    /// A failure that no response has followed.
    public struct Failure: Hashable, Sendable {
        public let event: Event
        /// Monotonic milliseconds of the first failure after the last response.
        public let since: UInt64
    }

    public private(set) var state = State.up
    /// The last failure since the last response; nil for none. It changes nothing in the choice of targets.
    public private(set) var failure: Failure?
    /// Monotonic milliseconds of the last change of the flag; nil before the first.
    public private(set) var changedAt: UInt64?
    private var rules: TargetHealthRules
    private var failures = 0
    private var successes = 0
    private var silences = 0
    private var firstSilence: UInt64 = 0
    /// The begin of its rest while it is down; nil where a call may try it.
    private var restFrom: UInt64?
    private var hasRespondedToProbe = false
    /// True when the last probe failed.
    private var isProbedDown = false
    private var hasHinted = false
    /// Failed trials since it went down as unreachable; nil where it was silent.
    private var unreached: Int?
    /// Number of times it went down shortly after it came up.
    private var relapses = 0

    public init(rules: TargetHealthRules) { self.rules = rules }

    /// The time from which calls may go there: 0 while it is up, never while probes have to lift it.
    public var openFrom: UInt64 {
        switch state {
        case .up: 0
        case .resting(let until): until
        case .down: rules.probes ? .max : restFrom.map { $0 + rest } ?? 0
        }
    }

    /// The time from which it counts as fit for a health check; later than `openFrom` where calls may try a target that
    /// fails its probes.
    public var fitFrom: UInt64 { state == .down && isProbedDown ? .max : openFrom }

    /// Milliseconds it is left alone while it is down and nothing probes it.
    private var rest: UInt64 {
        unreached.map { min(rules.retrialUnreached << UInt64($0), rules.retrial) } ?? rules.retrial
    }

    /// Forgets everything but the rules: the target is up, and its first failures count anew.
    public mutating func restart() { self = TargetHealth(rules: rules) }

    /// Changes the rules and keeps the state.
    public mutating func use(_ rules: TargetHealthRules) { self.rules = rules }

    /// True when calls may go there at a time.
    public func isUp(at now: UInt64) -> Bool { openFrom <= now }

    /// True when a response to a call would change nothing.
    public var isSpotless: Bool { state == .up && failures == 0 && silences == 0 && failure == nil }

    /// Successful probes in a row that lift a target: doubled with each relapse, at most eightfold.
    public var probesToRise: Int { rules.upAfter << min(relapses, 3) }

    /// Takes an event and gives the new state if calls begin or cease to go there.
    ///
    /// Gives `up` once for a silent probe that does not count: the owner should learn of it.
    public mutating func receive(_ event: Event, at now: UInt64) -> State? {
        let before = state
        if event == .probeFailed, !isSilenceTrusted { return hint() }
        show(event, at: now)
        switch event {
        case .probeSucceeded: probeSucceeded(at: now)
        case .probeFailed: probeFailed(isRefused: false, at: now)
        case .probeRefused, .probeUndelivered: probeFailed(isRefused: true, at: now)
        case .responded: responded(at: now)
        case .refused(let seconds): refused(seconds, at: now)
        case .silent: silent(isUnreached: false, at: now)
        case .unreachable: silent(isUnreached: true, at: now)
        }
        return state == before ? nil : state
    }

    /// Takes an event for `failure` alone.
    public mutating func show(_ event: Event, at now: UInt64) {
        switch event {
        case .probeSucceeded, .responded: failure = nil
        case .probeFailed, .probeRefused, .probeUndelivered, .refused, .silent, .unreachable:
            failure = Failure(event: event, since: failure?.since ?? now)
        }
    }

    private var isSilenceTrusted: Bool { rules.trustsSilence || hasRespondedToProbe }

    /// Counts a silent probe of a target that may ignore OPTIONS.
    private mutating func hint() -> State? {
        failures += 1
        guard failures >= rules.downAfter, !hasHinted, state == .up else { return nil }
        hasHinted = true
        return .up
    }

    private mutating func probeSucceeded(at now: UInt64) {
        failures = 0
        isProbedDown = false
        hasRespondedToProbe = true
        switch state {
        case .up: break
        case .resting(let until): if now >= until { rise(at: now) }
        case .down:
            successes += 1
            restFrom = nil
            if successes >= probesToRise { rise(at: now) }
        }
    }

    private mutating func probeFailed(isRefused: Bool, at now: UInt64) {
        successes = 0
        failures += 1
        if state == .down {
            isProbedDown = true
            rest(isUnreached: isRefused, at: now)
        } else if failures >= rules.downAfter {
            fall(isUnreached: isRefused, at: now)
            isProbedDown = true
        }
    }

    /// Restarts the rest.
    private mutating func rest(isUnreached: Bool, at now: UInt64) {
        restFrom = now
        unreached = isUnreached ? min((unreached ?? 0) + 1, 16) : nil
    }

    private mutating func responded(at now: UInt64) {
        silences = 0
        switch state {
        case .up: failures = 0
        case .resting(let until): if now >= until { rise(at: now) }
        // A late response to an earlier call does not lift a target; without probes a trial with a response does.
        case .down: if !rules.probes, isUp(at: now) { rise(at: now) }
        }
    }

    private mutating func refused(_ seconds: Int?, at now: UInt64) {
        silences = 0
        guard let seconds, seconds > 0, state != .down else { return }
        state = .resting(until: now + UInt64(min(seconds, rules.longestRest)) * 1000)
        changedAt = now
    }

    private mutating func silent(isUnreached: Bool, at now: UInt64) {
        if state == .down {
            // A failed trial restarts the rest; of several at once the first.
            guard !rules.probes, isUp(at: now) else { return }
            return rest(isUnreached: isUnreached, at: now)
        }
        if silences == 0 || now > firstSilence + rules.window {
            silences = 0
            firstSilence = now
        }
        silences += 1
        if silences >= rules.silencesAllowed { fall(isUnreached: isUnreached, at: now) }
    }

    private mutating func fall(isUnreached: Bool, at now: UInt64) {
        unreached = isUnreached ? 0 : nil
        // Down again within ten windows of coming up is a relapse; a longer good time is forgiven.
        let isRelapse = changedAt.map { now < $0 + 10 * rules.window } ?? false
        relapses = isRelapse ? relapses + 1 : 0
        (state, changedAt, restFrom, successes, silences) = (.down, now, now, 0, 0)
        isProbedDown = false
    }

    private mutating func rise(at now: UInt64) {
        (state, changedAt, failures, silences) = (.up, now, 0, 0)
        isProbedDown = false
    }
}
