// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Detects steps of the wall clock, and their size, by comparison with a steady clock.
///
/// A machine may start with a clock that is hours wrong and is set while calls ring. Durations would be wrong by the
/// same amount, and calls in progress would count as overdue. A slewed clock (time servers do that below half a second)
/// has no step. One thread.
public struct ClockStepDetector: Sendable {
    /// Smallest step in microseconds; smaller differences are slews, or pauses between two readings.
    static let least: Int64 = 1_000_000

    private let steady: @Sendable () -> Int64
    private var offset: Int64?
    /// Steady time of the first reading, or of the last step.
    private var unsetSince: Int64?

    /// - Parameter steady: microseconds of a steady clock.
    public init(steady: @escaping @Sendable () -> Int64 = Self.sinceBoot) { self.steady = steady }

    /// One reading of the wall clock.
    public struct Reading: Hashable, Sendable {
        /// Microseconds since 1970 by the wall clock.
        public let time: Int64
        /// Step in microseconds since the last reading; nil without a step, and at the first reading.
        public let step: Int64?
    }

    /// Reads the wall clock once.
    ///
    /// Nil if the reading took too long to be useful. Use the time of the reading for everything that depends on the
    /// clock: the clock may be set right after it.
    public mutating func read(_ wall: () -> Int64) -> Reading? {
        let before = steady()
        let time = wall()
        // The thread lost its core between the two clocks.
        guard steady() - before < Self.least / 4 else { return nil }
        let present = time - before
        // Compared with the last reading only: slews add up over days.
        defer { offset = present }
        if let offset, abs(present - offset) < Self.least { return Reading(time: time, step: nil) }
        unsetSince = before
        return Reading(time: time, step: offset.map { present - $0 })
    }

    /// Step in microseconds since the last reading; nil without a step, and at the first reading.
    public mutating func step(of wall: () -> Int64) -> Int64? { read(wall)?.step }

    /// True if the clock had no step for this time.
    ///
    /// Old data is deleted only then: the clock of a machine that starts in the wrong year is set within minutes.
    public func hasStood(for time: Duration) -> Bool {
        unsetSince.map { .microseconds(steady() - $0) >= time } ?? false
    }

    /// Microseconds since 1970.
    public static let wall: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Microseconds since the machine was started, its sleep included.
    public static let sinceBoot: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
