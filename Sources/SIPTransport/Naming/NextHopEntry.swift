// SPDX-License-Identifier: Apache-2.0

/// What the resolver knows of one name.
struct NextHopEntry: Hashable, Sendable {
    /// The last good answer; nil when there never was one.
    private(set) var hops: [ResolvedHop]?
    /// False when lookups were missing from that answer.
    private(set) var isWhole = true
    /// Wall clock seconds of that answer.
    private(set) var answeredAt: Int64?
    /// When to ask again, on the resolver's clock.
    private(set) var due: Duration
    /// Failures in a row.
    private(set) var failures = 0
    /// The last failure; nil when the last lookup was good.
    private(set) var problem: String?

    /// A name that was never asked for.
    init(due: Duration) { self.due = due }

    /// A name with the answer of an earlier run, to be asked for again.
    init(kept: NextHopFile.Kept, due: Duration) {
        hops = kept.hops
        isWhole = kept.isWhole
        answeredAt = kept.answeredAt
        self.due = due
    }

    /// Takes an answer, unless it is an incomplete one that only lacks what a whole one had.
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

    /// Keeps the last good answer and asks again soon.
    mutating func fail(_ problem: String, at now: Duration, retry: (Int) -> Duration) {
        failures += 1
        self.problem = problem
        due = now + retry(failures)
    }
}

/// Waits after failures that double between two limits, with a fifth of chance.
package struct NextHopBackoff: Hashable, Sendable {
    package var first: Duration
    package var limit: Duration

    package init(first: Duration = .seconds(1), limit: Duration = .seconds(60)) {
        self.first = first
        self.limit = limit
    }

    /// The wait after some failures in a row, counted from one; `chance` in 0 ..< 1 spreads it by ± 20 %.
    package func delay(afterFailures count: Int, chance: Double) -> Duration {
        let doubled = min(first * (1 << min(max(count - 1, 0), 30)), limit)
        return min(max(doubled * (0.8 + 0.4 * chance), first), limit)
    }
}
