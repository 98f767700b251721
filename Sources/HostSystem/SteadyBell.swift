// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Wakes one waiting thread, or ends its wait after a time on the monotonic clock.
///
/// `DispatchSemaphore` on Linux waits for an absolute time of day: a clock set back by an hour blocks the thread for an
/// hour. A ring without a waiting thread is kept. Any thread rings, one thread waits.
package final class SteadyBell: Sendable {
    private struct State {
        var mutex = pthread_mutex_t()
        var condition = pthread_cond_t()
        var isRung = false
    }

    /// At one address for its lifetime, as the pthread functions require.
    ///
    /// `nonisolated(unsafe)` is sound here. The pointer never changes, and it is private to this file. `ring` and `wait` alone
    /// reach `isRung`, each between lock and unlock of `mutex`; the wait on `condition` gives the mutex back while it sleeps.
    /// pthread mutexes and conditions are made for use by several threads. `init` runs before another thread has the bell.
    /// `deinit` runs after the last reference is gone, so no thread is in `ring` or `wait` then.
    private nonisolated(unsafe) let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    package init() {
        state.initialize(to: State())
        pthread_mutex_init(&state.pointee.mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(&state.pointee.condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(&state.pointee.condition)
        pthread_mutex_destroy(&state.pointee.mutex)
        state.deallocate()
    }

    /// Ends the current wait, or the next one.
    package func ring() {
        pthread_mutex_lock(&state.pointee.mutex)
        state.pointee.isRung = true
        pthread_cond_signal(&state.pointee.condition)
        pthread_mutex_unlock(&state.pointee.mutex)
    }

    /// Waits for a ring, at most `time`.
    ///
    /// - Returns: false if the time ended first.
    package func wait(_ time: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = max(time, .zero).components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(&state.pointee.mutex)
        defer { pthread_mutex_unlock(&state.pointee.mutex) }
        while !state.pointee.isRung {
            guard pthread_cond_timedwait(&state.pointee.condition, &state.pointee.mutex, &end) == 0 else { break }
        }
        defer { state.pointee.isRung = false }
        return state.pointee.isRung
    }
}

/// The monotonic clock, unaffected by clock steps: for ages and waits inside one process.
package enum SteadyClock {
    /// Microseconds of `CLOCK_MONOTONIC`, without the machine's sleep.
    package static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
