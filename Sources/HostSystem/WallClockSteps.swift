// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Tells when the wall clock was set: by how much, against one that only runs.
///
/// Machines start with a clock that is hours off and have it set while calls ring. Durations would be as wrong, and calls in
/// progress be taken for overdue. A clock that is slewed, as time servers do below half a second, is none that was set.
/// One thread.
package struct WallClockSteps: Sendable {
    /// Microseconds; less is a slew, or two readings with a pause between them.
    static let least: Int64 = 1_000_000

    private let steady: @Sendable () -> Int64
    private var offset: Int64?
    /// The steady clock when the wall clock was read first, or was last found set.
    private var unsetSince: Int64?

    /// - Parameter steady: microseconds of a clock that nobody sets.
    package init(steady: @escaping @Sendable () -> Int64 = Self.sinceBoot) { self.steady = steady }

    /// One look at the wall clock.
    package struct Reading: Hashable, Sendable {
        /// Microseconds since 1970, as the wall clock gave them.
        package let time: Int64
        /// By how many microseconds the clock was set since the last reading; nil where it was not, and at the first.
        package let step: Int64?
    }

    /// Reads the wall clock once; nil where the reading took so long that it shows nothing.
    ///
    /// What goes by the clock goes by the time of the reading: the clock may be set right after it.
    package mutating func read(_ wall: () -> Int64) -> Reading? {
        let before = steady()
        let time = wall()
        // The thread lost its core between the two clocks.
        guard steady() - before < Self.least / 4 else { return nil }
        let present = time - before
        // Followed reading by reading: what is slewed adds up over days.
        defer { offset = present }
        if let offset, abs(present - offset) < Self.least { return Reading(time: time, step: nil) }
        unsetSince = before
        return Reading(time: time, step: offset.map { present - $0 })
    }

    /// By how many microseconds the clock was set since the last reading; nil where it was not, and at the first.
    package mutating func step(of wall: () -> Int64) -> Int64? { read(wall)?.step }

    /// True where the clock has been read for so long without being found set.
    ///
    /// What goes by its age is deleted only then: a machine that starts in the wrong year is put right within minutes.
    package func hasStood(for time: Duration) -> Bool {
        unsetSince.map { .microseconds(steady() - $0) >= time } ?? false
    }

    /// Microseconds since 1970.
    package static let wall: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Microseconds since the machine was started, its sleep included.
    package static let sinceBoot: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
