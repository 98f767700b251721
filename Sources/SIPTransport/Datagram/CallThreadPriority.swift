// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Scheduling of a call thread: a niceness, and real-time priority on request.
///
/// Beside a full sync an ordinary thread waits some milliseconds for a core. A real-time thread wakes at once, but
/// handles fewer messages each time: a sixth more CPU at 2,000 calls/s. So real time is used on request only
/// (docs/performance.md). A busy real-time thread would starve the threads that store outcomes. It is ordinary while it
/// works for `share` of its time or more. Made and used on the thread itself.
public struct CallThreadPriority: ~Copyable {
    /// The scheduling that the system permits.
    public struct Granted: Hashable, Sendable {
        /// −20 to 19. Values below 0 require CAP_SYS_NICE or RLIMIT_NICE.
        public let niceness: Int32
        /// True if real-time scheduling is permitted: CAP_SYS_NICE or RLIMIT_RTPRIO; sched(7).
        public let isRealTime: Bool
    }

    /// The requested niceness of a call thread.
    ///
    /// It leaves a quarter of a shared core to the threads that store outcomes, by the kernel's weights. With −10 they
    /// get a tenth, too little for the calls of one core, as measured.
    public static let wantedNiceness: Int32 = -5

    /// Nanoseconds between two measurements of the thread's load.
    static let interval: UInt64 = 100_000_000

    /// The result of the request for scheduling.
    public let granted: Granted
    private let share: Double
    private var isRealTime = false
    /// Start of the measurement; nil without a request for real time, so that a wait costs nothing.
    private var watchedSince: UInt64?
    private var waitBegan: UInt64 = 0
    private var waited: UInt64 = 0

    /// Names the calling thread, for `ps` and `top`, and requests its niceness.
    ///
    /// - Parameter share: load, 0 to 1, above which the thread is ordinary; 0 for always ordinary.
    public init(share: Double) {
        let niceness = herald_begin_call_thread("herald-calls", Self.wantedNiceness)
        let isAllowed = share > 0 && herald_set_realtime(1, niceness) == 0
        if isAllowed { _ = herald_set_realtime(0, niceness) }
        granted = Granted(niceness: niceness, isRealTime: isAllowed)
        self.share = share
    }

    /// Records that the thread starts to wait.
    mutating func beginsToWait() {
        if watchedSince != nil { waitBegan = Self.nanoseconds() }
    }

    /// Records the end of a wait.
    ///
    /// While real time is requested, it measures the load ten times a second.
    ///
    /// It measures waits, not CPU time: on a host that takes cores away, a busy thread runs less than it needs.
    /// - Parameter isAsked: true if real time is requested.
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
        setRealTime(Self.isRealTime(isRealTime, work: 1 - Double(waited) / Double(now - since), share: share))
        (watchedSince, waited) = (now, 0)
    }

    private mutating func setRealTime(_ enabled: Bool) {
        if enabled != isRealTime, herald_set_realtime(enabled ? 1 : 0, granted.niceness) == 0 { isRealTime = enabled }
    }

    /// Returns true for real time.
    ///
    /// It returns to real time at a load a fifth below `share`, so that it does not oscillate.
    static func isRealTime(_ now: Bool, work: Double, share: Double) -> Bool {
        work < (now ? share : share * 0.8)
    }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
