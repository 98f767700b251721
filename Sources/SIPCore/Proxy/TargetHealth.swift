// SPDX-License-Identifier: Apache-2.0

/// When a target counts as down and as up again.
package struct TargetHealthRules: Hashable, Sendable {
    /// Probes in a row that must fail, 1 or more.
    package var downAfter = 3
    /// Probes in a row that must be answered, 1 or more.
    package var upAfter = 2
    /// Calls the target left without any answer inside `window` that mark it down without waiting for probes.
    package var silencesAllowed = 2
    /// Milliseconds in which silences count together.
    package var window: UInt64 = 30_000
    /// Milliseconds after which a target that calls marked down is tried again where nothing probes it.
    package var retrial: UInt64 = 30_000
    /// The same where calls could not reach it, which costs them nothing; doubled with each trial up to `retrial`.
    package var retrialUnreached: UInt64 = 1_000
    /// Longest Retry-After that is honoured, in seconds; RFC 3261 §20.33 leaves it to the sender.
    package var longestRest = 120
    /// Whether a target that is down stays so until probes are answered.
    ///
    /// Not where nothing probes it, nor where its group has no other that could take the calls.
    package var probes = true
    /// Whether a target that has never answered a probe counts as down when it is silent: not where nobody asked for
    /// probes, since some PBXs ignore OPTIONS.
    package var trustsSilence = true

    package init() {}
}

/// The health of one target as a state machine: events with their time in, the state out.
///
/// Its flag does not flap: one lost probe changes nothing, and a target that keeps failing has to answer more probes
/// in a row each time before it gets calls again.
package struct TargetHealth: Hashable, Sendable {
    /// Whether the target gets calls.
    package enum State: Hashable, Sendable {
        case up
        case down
        /// It asked for peace with a 503 and Retry-After (RFC 3261 §21.5.4).
        case resting(until: UInt64)
    }

    /// What was seen of the target.
    package enum Event: Hashable, Sendable {
        /// A probe was answered with anything but 408 and 503.
        case probeAnswered
        /// A probe was not answered.
        case probeFailed
        /// A probe could not be delivered, or was answered 408 or 503.
        case probeRefused
        /// It answered a request with anything but 503.
        case answered
        /// It answered a request with 503, perhaps with the seconds after which to come back.
        case refused(retryAfter: Int?)
        /// It gave no answer at all.
        case silent
        /// What was sent did not reach it: refused connections, no route.
        case unreachable
    }

    package private(set) var state = State.up
    /// Monotonic milliseconds of the last change of the flag; nil before the first.
    package private(set) var changedAt: UInt64?
    private var rules: TargetHealthRules
    private var failures = 0
    private var successes = 0
    private var silences = 0
    private var firstSilence: UInt64 = 0
    /// From when on it rests while it is down; nil where a call may try it.
    private var restFrom: UInt64?
    private var hasAnsweredProbe = false
    /// The last probe shows that it is not there.
    private var isProbedDown = false
    private var hasHinted = false
    /// How often it was tried in vain since it went down because it could not be reached; nil where it was silent.
    private var unreached: Int?
    /// How often it went down shortly after it had come up.
    private var relapses = 0

    package init(rules: TargetHealthRules) { self.rules = rules }

    /// The time from which calls may go there: 0 while it is up, never while probes have to lift it.
    package var openFrom: UInt64 {
        switch state {
        case .up: 0
        case .resting(let until): until
        case .down: rules.probes ? .max : restFrom.map { $0 + rest } ?? 0
        }
    }

    /// The time from which the group counts as there, for who asks: later than `openFrom` where calls are to try a target
    /// that probes show to be down.
    package var fitFrom: UInt64 { state == .down && isProbedDown ? .max : openFrom }

    /// Milliseconds it is left alone while it is down and nothing probes it.
    private var rest: UInt64 {
        unreached.map { min(rules.retrialUnreached << UInt64($0), rules.retrial) } ?? rules.retrial
    }

    /// Goes by other rules from now on; what was seen of the target stays.
    package mutating func use(_ rules: TargetHealthRules) { self.rules = rules }

    /// True when calls may go there at a time.
    package func isUp(at now: UInt64) -> Bool { openFrom <= now }

    /// True when the answer to a call would change nothing.
    package var isSpotless: Bool { state == .up && failures == 0 && silences == 0 }

    /// Answered probes in a row that a target which is down needs: doubled with each relapse, eight times at most.
    package var probesToRise: Int { rules.upAfter << min(relapses, 3) }

    /// Takes what was seen and gives the new state when calls begin or cease to go there.
    ///
    /// Once it gives `up` for a silent probe: the target is left up, and its owner should know.
    package mutating func receive(_ event: Event, at now: UInt64) -> State? {
        let before = state
        if event == .probeFailed, !isSilenceTrusted { return hint() }
        switch event {
        case .probeAnswered: probeAnswered(at: now)
        case .probeFailed: probeFailed(isRefused: false, at: now)
        case .probeRefused: probeFailed(isRefused: true, at: now)
        case .answered: answered(at: now)
        case .refused(let seconds): refused(seconds, at: now)
        case .silent: silent(isUnreached: false, at: now)
        case .unreachable: silent(isUnreached: true, at: now)
        }
        return state == before ? nil : state
    }

    private var isSilenceTrusted: Bool { rules.trustsSilence || hasAnsweredProbe }

    /// Counts a silent probe of a target that may ignore OPTIONS.
    private mutating func hint() -> State? {
        failures += 1
        guard failures >= rules.downAfter, !hasHinted, state == .up else { return nil }
        hasHinted = true
        return .up
    }

    private mutating func probeAnswered(at now: UInt64) {
        failures = 0
        isProbedDown = false
        hasAnsweredProbe = true
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

    /// Begins the waiting anew.
    private mutating func rest(isUnreached: Bool, at now: UInt64) {
        restFrom = now
        unreached = isUnreached ? min((unreached ?? 0) + 1, 16) : nil
    }

    private mutating func answered(at now: UInt64) {
        silences = 0
        switch state {
        case .up: failures = 0
        case .resting(let until): if now >= until { rise(at: now) }
        // A late answer of a call from before does not lift a target; without probes an answered trial does.
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
            // A trial that failed begins the waiting anew; of several at once the first.
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
