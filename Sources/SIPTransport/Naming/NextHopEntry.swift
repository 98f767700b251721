// SPDX-License-Identifier: Apache-2.0

/// The resolver's state of one host name.
struct NextHopEntry: Hashable, Sendable {
    /// The addresses of the last successful lookup; nil before the first one.
    private(set) var hops: [ResolvedHop]?
    /// False if some lookups of that result failed.
    private(set) var isWhole = true
    /// Time of that result in seconds since 1970.
    private(set) var answeredAt: Int64?
    /// Time of the next lookup, on the resolver's clock.
    private(set) var due: Duration
    /// Consecutive failures.
    private(set) var failures = 0
    /// The last failure; nil after a success.
    private(set) var problem: String?

    /// Creates the entry of a name without a result.
    init(due: Duration) { self.due = due }

    /// Creates the entry of a name with a saved result, which is to be refreshed.
    init(kept: NextHopFile.Kept, due: Duration) {
        hops = kept.hops
        isWhole = kept.isWhole
        answeredAt = kept.answeredAt
        self.due = due
    }

    /// Stores a result.
    ///
    /// An incomplete result without new addresses does not replace a complete one.
    mutating func take(_ answer: NextHopAnswer, at now: Duration, wall: Int64, retry: (Int) -> Duration) {
        let isGap = !answer.gaps.isEmpty
        if isGap, isWhole, let hops, Set(answer.hops).isSubset(of: hops) {
            fail(answer.gaps.joined(separator: "; "), at: now, retry: retry)
            return
        }
        hops = answer.hops
        isWhole = !isGap
        answeredAt = wall
        failures = isGap ? failures + 1 : 0
        problem = isGap ? answer.gaps.joined(separator: "; ") : nil
        due = now + (isGap ? min(answer.lifetime, retry(failures)) : answer.lifetime)
    }

    /// Keeps the last result and schedules a retry.
    mutating func fail(_ problem: String, at now: Duration, retry: (Int) -> Duration) {
        failures += 1
        self.problem = problem
        due = now + retry(failures)
    }
}

/// Exponential backoff between two limits, with a random spread of ± 20 %.
package struct NextHopBackoff: Hashable, Sendable {
    /// The delay after the first failure.
    package var first: Duration
    /// The largest delay.
    package var limit: Duration

    package init(first: Duration = .seconds(1), limit: Duration = .seconds(60)) {
        self.first = first
        self.limit = limit
    }

    /// Returns the delay after `count` consecutive failures, from 1.
    ///
    /// `chance` in 0 ..< 1 selects the spread.
    package func delay(afterFailures count: Int, chance: Double) -> Duration {
        let doubled = min(first * (1 << min(max(count - 1, 0), 30)), limit)
        return min(max(doubled * (0.8 + 0.4 * chance), first), limit)
    }
}
