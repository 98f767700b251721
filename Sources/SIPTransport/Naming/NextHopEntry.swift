// SPDX-License-Identifier: Apache-2.0

/// The resolver's state of one name.
struct NextHopEntry: Hashable, Sendable {
    /// The last good result; nil if there was none.
    private(set) var hops: [ResolvedHop]?
    /// False if lookups failed in that result.
    private(set) var isWhole = true
    /// Time of that result, in seconds since 1970.
    private(set) var resolvedAt: Int64?
    /// Time of the next lookup, on the resolver's clock.
    private(set) var due: Duration
    /// Consecutive failures.
    private(set) var failures = 0
    /// The last failure; nil if the last lookup succeeded.
    private(set) var problem: String?

    /// A name that was never looked up.
    init(due: Duration) { self.due = due }

    /// A name with the result of an earlier run, due for a lookup.
    init(kept: NextHopFile.Kept, due: Duration) {
        hops = kept.hops
        isWhole = kept.isWhole
        resolvedAt = kept.resolvedAt
        self.due = due
    }

    /// Takes a result, unless it is an incomplete subset of a complete one.
    mutating func take(_ response: NextHopResponse, at now: Duration, wall: Int64, retry: (Int) -> Duration) {
        let isGap = !response.gaps.isEmpty
        if isGap, isWhole, let hops, Set(response.hops).isSubset(of: hops) {
            fail(response.gaps.joined(separator: "; "), at: now, retry: retry)
            return
        }
        hops = response.hops
        isWhole = !isGap
        resolvedAt = wall
        failures = isGap ? failures + 1 : 0
        problem = isGap ? response.gaps.joined(separator: "; ") : nil
        due = now + (isGap ? min(response.lifetime, retry(failures)) : response.lifetime)
    }

    /// Keeps the last good result and retries soon.
    mutating func fail(_ problem: String, at now: Duration, retry: (Int) -> Duration) {
        failures += 1
        self.problem = problem
        due = now + retry(failures)
    }
}
