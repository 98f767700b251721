// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// How the scheduler treats a call thread: with a niceness, and before all ordinary threads while that is asked for.
///
/// Ordinary threads wait for each other however short their slices are, up to some milliseconds beside a full sync; a
/// real-time thread wakes at once, but meets fewer messages each time, which costs a sixth more CPU at 2,000 calls/s: so it
/// is one only on request (docs/performance.md). One that never waits would leave nothing to those that store outcomes, so
/// it is ordinary all the same while it is at work for `share` of its time or more. Made and used on the thread itself.
package struct CallThreadPriority: ~Copyable {
    /// What the system allows the thread.
    package struct Granted: Hashable, Sendable {
        /// −20 to 19; below 0 takes CAP_SYS_NICE or RLIMIT_NICE.
        package let niceness: Int32
        /// Whether it may be of the real-time kind, which takes CAP_SYS_NICE or RLIMIT_RTPRIO; sched(7).
        package let isRealTime: Bool
    }

    /// The niceness a call thread asks for.
    ///
    /// By the weights of the kernel it leaves threads that store outcomes a quarter of a core they share; with −10 it is a
    /// tenth, too little for the calls one core carries. Measured: docs/performance/log.md.
    package static let wantedNiceness: Int32 = -5

    /// Nanoseconds after which it is looked at how much of them the thread was at work.
    static let interval: UInt64 = 100_000_000

    package let granted: Granted
    private let share: Double
    private var isFirst = false
    /// Since when its waits are added up; nil while nobody asks it to go first, so that a wait costs nothing then.
    private var watchedSince: UInt64?
    private var waitBegan: UInt64 = 0
    private var waited: UInt64 = 0

    /// Names the present thread, for `ps` and `top`, and asks for what it wants.
    ///
    /// - Parameter share: the part of its time, 0 to 1, from which on a thread at work is ordinary; with 0 it always is.
    package init(share: Double) {
        let niceness = herald_begin_call_thread("herald-calls", Self.wantedNiceness)
        let isAllowed = share > 0 && herald_set_realtime(1, niceness) == 0
        if isAllowed { _ = herald_set_realtime(0, niceness) }
        granted = Granted(niceness: niceness, isRealTime: isAllowed)
        self.share = share
    }

    /// Notes that the thread has nothing to do.
    mutating func beginsToWait() {
        if watchedSince != nil { waitBegan = Self.nanoseconds() }
    }

    /// Notes that it has again, and while it is asked to go first looks ten times a second at how long it had not.
    ///
    /// Not at the time it ran: where a host takes cores away, a thread that never waits runs less than it needs.
    /// - Parameter isAsked: whether it is to go first if it may.
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

    /// Whether it goes first from now on; a fifth below `share` before it does so again, so that it does not waver.
    static func goesFirst(_ isFirst: Bool, work: Double, share: Double) -> Bool {
        work < (isFirst ? share : share * 0.8)
    }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
