// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import HostSystem
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
    ///
    /// - Returns: the time of the look, in microseconds since 1970; nil where it took too long to count.
    func lookAtClock(_ journal: inout LedgerJournal) -> Int64? {
        guard let reading = clockSteps.withLock({ $0.read(now) }) else { return nil }
        if let step = reading.step {
            journal.clockWasSet(ClockStep(microseconds: step, noticedAt: reading.time, position: ring.claimed))
            log.notice(
                "the clock was set; times of calls in progress are told by the new one",
                metadata: ["seconds": "\(step / 1_000_000)"])
        }
        return reading.time
    }
}
