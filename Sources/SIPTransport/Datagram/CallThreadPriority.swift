// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Scheduling of a call thread: its niceness, and real-time scheduling on request.
///
/// Normal threads delay each other by up to some milliseconds, for example during a full sync. A real-time thread wakes
/// at once. It handles fewer messages per round, which costs 1/6 more CPU at 2,000 calls/s (docs/performance.md). So
/// the thread is real-time only on request. A busy real-time thread would starve the threads that store outcomes. So
/// the thread is normal while it works for `share` of the time or more. Used only on the call thread itself.
package struct CallThreadPriority: ~Copyable {
    /// The scheduling that the system permits.
    package struct Granted: Hashable, Sendable {
        /// −20 to 19.
        ///
        /// Values below 0 require CAP_SYS_NICE or RLIMIT_NICE.
        package let niceness: Int32
        /// True if real-time scheduling is permitted, which requires CAP_SYS_NICE or RLIMIT_RTPRIO; see sched(7).
        package let isRealTime: Bool
    }

    /// The requested niceness of a call thread.
    ///
    /// On a shared core it leaves 1/4 of the time to threads that store outcomes. With −10 they get 1/10, which is too
    /// little for the calls of one core (docs/performance/log.md).
    package static let wantedNiceness: Int32 = -5

    /// Measuring interval of the thread's load in nanoseconds.
    static let interval: UInt64 = 100_000_000

    /// The result of the request for scheduling.
    package let granted: Granted
    private let share: Double
    private var isFirst = false
    /// Start of the current interval; nil without a request, so that waits are not measured.
    private var watchedSince: UInt64?
    private var waitBegan: UInt64 = 0
    private var waited: UInt64 = 0

    /// Names the current thread, for `ps` and `top`, and requests its niceness.
    ///
    /// - Parameter share: load from which the thread is scheduled normally, 0 to 1. 0 disables real-time scheduling.
    package init(share: Double) {
        let niceness = herald_begin_call_thread("herald-calls", Self.wantedNiceness)
        let isAllowed = share > 0 && herald_set_realtime(1, niceness) == 0
        if isAllowed { _ = herald_set_realtime(0, niceness) }
        granted = Granted(niceness: niceness, isRealTime: isAllowed)
        self.share = share
    }

    /// Marks the start of a wait.
    mutating func beginsToWait() {
        if watchedSince != nil { waitBegan = Self.nanoseconds() }
    }

    /// Marks the end of a wait.
    ///
    /// While real-time scheduling is requested, measures the load ten times a second.
    ///
    /// The load is time not spent waiting, rather than CPU time. If a host withholds cores, a busy thread has little
    /// CPU time.
    /// - Parameter isAsked: true requests real-time scheduling.
    mutating func hasWaited(isAsked: Bool) {
        guard granted.isRealTime, isAsked else {
            watchedSince = nil
            return setRealTime(false)
        }
        let now = Self.nanoseconds()
        guard let since = watchedSince else {
            (watchedSince, waited) = (now, 0)
            return
        }
        waited += now - waitBegan
        guard now >= since + Self.interval else { return }
        setRealTime(Self.goesFirst(isFirst, work: 1 - Double(waited) / Double(now - since), share: share))
        (watchedSince, waited) = (now, 0)
    }

    private mutating func setRealTime(_ next: Bool) {
        if next != isFirst, herald_set_realtime(next ? 1 : 0, granted.niceness) == 0 { isFirst = next }
    }

    /// Returns whether the thread becomes real-time.
    ///
    /// Hysteresis: it needs a load below 80 % of `share` to become real-time again.
    static func goesFirst(_ isFirst: Bool, work: Double, share: Double) -> Bool {
        work < (isFirst ? share : share * 0.8)
    }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
