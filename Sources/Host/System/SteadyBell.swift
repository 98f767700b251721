// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Wakes one waiting thread, or ends its wait after a time on the monotonic clock.
///
/// `DispatchSemaphore` on Linux waits for an absolute time of day: a clock set back by an hour blocks the thread for an
/// hour. A ring without a waiting thread is kept. Any thread rings, one thread waits.
public final class SteadyBell: Sendable {
    /// An eventfd; negative if the system has none left.
    ///
    /// Without one a ring is lost, and a wait lasts its whole time.
    private let wakeup = herald_open_wakeup()

    public init() {}

    deinit { if wakeup >= 0 { close(wakeup) } }

    /// Ends the current wait, or the next one.
    public func ring() { herald_wake(wakeup) }

    /// Waits for a ring, at most `time`.
    ///
    /// - Returns: false if the time ended first.
    public func wait(_ time: Duration) -> Bool {
        let end =
            SteadyClock.microseconds + max(time, .zero).components.seconds * 1_000_000
            + max(time, .zero).components.attoseconds / 1_000_000_000_000
        var watched = pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)
        while true {
            let left = max(end - SteadyClock.microseconds, 0)
            // poll(2) ignores a negative descriptor and measures its time on the monotonic clock.
            let ready = poll(&watched, 1, CInt(clamping: (left + 999) / 1_000))
            if ready > 0 {
                herald_clear_wakeup(wakeup)
                return true
            }
            if ready == 0, SteadyClock.microseconds >= end { return false }
        }
    }
}

/// The monotonic clock, unaffected by clock steps: for ages and waits inside one process.
public enum SteadyClock {
    /// Microseconds of `CLOCK_MONOTONIC`, without the machine's sleep.
    public static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
