// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A rate limit with bursts: the leaky bucket as a generic cell rate algorithm (ITU-T I.371).
///
/// One atomic word holds the time at which the bucket is empty. Any thread, no lock.
public final class RateLimit: Sendable {
    private let interval: UInt64
    private let tolerance: UInt64
    /// Microseconds at which the bucket is empty again.
    private let emptyAt = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - perSecond: above 0; up to a million.
    ///   - burst: how many may come at once, at least 1.
    public init(perSecond: Double, burst: Int) {
        interval = max(1, UInt64(1_000_000 / max(perSecond, 0.000_001)))
        tolerance = interval * UInt64(max(1, burst) - 1)
    }

    /// Takes one at a monotonic time in milliseconds; nil when granted, else the seconds to wait, at least 1.
    public func take(at milliseconds: UInt64) -> Int? {
        let now = milliseconds * 1000
        var empty = emptyAt.load(ordering: .relaxed)
        while true {
            let ahead = empty > now ? empty - now : 0
            guard ahead <= tolerance else { return Int((ahead - tolerance + 999_999) / 1_000_000) }
            let (exchanged, found) = emptyAt.weakCompareExchange(
                expected: empty, desired: max(empty, now) + interval, ordering: .relaxed)
            if exchanged { return nil }
            empty = found
        }
    }
}
