// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts durations in fixed buckets.
///
/// Any thread. A value is two relaxed atomic additions, without lock or allocation. Each thread of the call path has a
/// histogram of its own, so that no two share a cache line.
public final class DurationHistogram: Sendable {
    /// Upper ends of the buckets in seconds, for each measured quantity; at most 15.
    public enum Scale: Sendable {
        /// The delay that the gateway adds to a call.
        case delay
        /// Ringing, until the call is answered or ends.
        case ringing
        /// A request of another program, or a commit.
        case request
        /// A sync, from a few changes to millions of numbers.
        case sync
        /// A delivery that may wait for days.
        case delivery

        public var bounds: [Double] {
            switch self {
            case .delay: [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
            case .ringing: [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180]
            case .request: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
            case .sync: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 1800]
            case .delivery: [1, 2, 5, 10, 30, 60, 300, 900, 3600, 10_800, 43_200, 86_400, 604_800]
            }
        }
    }

    /// Inline, so that a value retains nothing.
    private typealias Counts = InlineArray<16, Atomic<UInt64>>

    private let bounds: [Double]
    /// The bounds in nanoseconds, then the largest number.
    private let ends: InlineArray<16, UInt64>
    private let counts: Counts
    private let sum = Atomic<UInt64>(0)

    public init(_ scale: Scale) {
        let bounds = scale.bounds
        precondition(bounds.count < Counts.count, "a scale has more bounds than counters")
        self.bounds = bounds
        ends = InlineArray { $0 < bounds.count ? UInt64((bounds[$0] * 1e9).rounded()) : .max }
        counts = Counts { _ in Atomic(0) }
    }

    /// Counts a duration in nanoseconds.
    public func record(nanoseconds: UInt64) {
        var bucket = 0
        while nanoseconds > ends[bucket] { bucket += 1 }
        counts[bucket].wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(nanoseconds, ordering: .relaxed)
    }

    /// Counts a duration; a negative one counts as zero.
    public func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return record(nanoseconds: 0) }
        // 100 years fit into 64 bits.
        record(nanoseconds: UInt64(min(seconds, 3_153_600_000)) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000)
    }

    /// The counts of this moment.
    public var distribution: Distribution {
        Distribution(
            bounds: bounds, counts: (0...bounds.count).map { counts[$0].load(ordering: .relaxed) },
            sum: Double(sum.load(ordering: .relaxed)) / 1e9)
    }
}
