// SPDX-License-Identifier: Apache-2.0

import Gateway
import Glibc
import Logging
import Synchronization

/// A wall clock that was set.
struct ClockStep {
    let microseconds: Int64
    /// The new time, in microseconds since 1970.
    let noticedAt: Int64
    /// How far the ring was written then: what comes after it is told by the new clock.
    let position: UInt64
}

extension CallSignal {
    /// The signal by the clock as it is, where it was told before that was set.
    ///
    /// The ring holds what was told in the last 45 ms as a rule: a time nearer to the old clock than to the new is of that.
    func told(before step: ClockStep) -> CallSignal {
        let time = wallMicroseconds &+ step.microseconds
        guard (time &- step.noticedAt).magnitude < (wallMicroseconds &- step.noticedAt).magnitude else { return self }
        var signal = self
        signal.wallMicroseconds = time
        return signal
    }
}

extension OutcomeRecorder {
    /// Goes by the wall clock as it is now, where it was set.
    func lookAtClock(_ journal: inout LedgerJournal) {
        guard let step = clockSteps.withLock({ $0.step(of: now) }) else { return }
        journal.clockWasSet(ClockStep(microseconds: step, noticedAt: now(), position: ring.claimed))
        log.notice(
            "the clock was set; times of calls in progress are told by the new one",
            metadata: ["seconds": "\(step / 1_000_000)"])
    }

    /// Microseconds since 1970.
    package static let wallClock: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

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

    /// - Parameter steady: microseconds of a clock that nobody sets.
    package init(steady: @escaping @Sendable () -> Int64 = Self.sinceBoot) { self.steady = steady }

    /// By how many microseconds the clock was set since the last reading; nil where it was not, and at the first.
    ///
    /// A reading that took long says nothing: the thread lost its core between the two clocks.
    mutating func step(of wall: () -> Int64) -> Int64? {
        let before = steady()
        let time = wall()
        guard steady() - before < Self.least / 4 else { return nil }
        let present = time - before
        // Followed reading by reading: what is slewed adds up over days.
        defer { offset = present }
        guard let offset, abs(present - offset) >= Self.least else { return nil }
        return present - offset
    }

    /// Microseconds since the machine was started, its sleep included.
    package static let sinceBoot: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
