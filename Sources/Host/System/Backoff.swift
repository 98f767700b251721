// SPDX-License-Identifier: Apache-2.0

/// Waits after failures in a row, which double from `first` to `limit`.
public struct Backoff: Hashable, Sendable {
    public var first: Duration
    public var limit: Duration

    public init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// Returns the wait after the given number of failures in a row, counted from one.
    public func delay(afterFailures count: Int) -> Duration {
        let doublings = min(max(count - 1, 0), 30)
        return min(first * (1 << doublings), limit)
    }

    /// The same wait, spread by ± 20 % within the two limits; `chance` is in 0 ..< 1.
    public func delay(afterFailures count: Int, chance: Double) -> Duration {
        min(max(delay(afterFailures: count) * (0.8 + 0.4 * chance), first), limit)
    }
}
