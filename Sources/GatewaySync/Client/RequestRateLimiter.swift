// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import Synchronization

/// Limits the requests of a client to the directory's announced rate, so that none is refused.
///
/// Reads `X-RateLimit-Remaining` and `X-RateLimit-Reset` of every response and `Retry-After` of a refusal. Each
/// admitted request lowers the remaining count, because responses in flight do not count each other. Any thread.
/// Source: mobile-api, "Rate Limits".
final class RequestRateLimiter: Sendable {
    private struct State {
        var remaining: Int?
        /// End of the window, in seconds of the steady clock.
        var resetsAt: Int64 = 0
        /// Earliest time of the next request, by the same clock.
        var notBefore: Int64 = 0

        mutating func roll(_ now: Int64) {
            // A new window: its first response carries the limit.
            if now >= resetsAt { remaining = nil }
        }

        func wait(_ now: Int64) -> Int64 {
            max(notBefore - now, (remaining ?? 1) > 0 ? 0 : resetsAt - now, 0)
        }
    }

    /// Smaller values of a reset are seconds from now, larger ones seconds since 1970.
    private static let firstTime: Int64 = 100_000_000
    /// Larger times are in milliseconds.
    private static let firstMilliseconds: Int64 = 100_000_000_000
    private let state = Mutex(State())

    /// Returns the pause before the next request; zero for none.
    ///
    /// - Parameter now: seconds of the steady clock, here and in `admit` and `record`.
    func pause(now: Int64) -> Duration {
        state.withLock { state in
            state.roll(now)
            return .seconds(state.wait(now))
        }
    }

    /// Admits one request and lowers the remaining count.
    ///
    /// - Returns: nil if the request may start now, else the wait before the next call of this function.
    func admit(now: Int64) -> Duration? {
        state.withLock { state in
            state.roll(now)
            let wait = state.wait(now)
            guard wait == 0 else { return .seconds(wait) }
            state.remaining = state.remaining.map { $0 - 1 }
            return nil
        }
    }

    /// Takes over the limits in the headers of a response.
    ///
    /// - Parameters:
    ///   - asked: its `Retry-After`, if it was a refusal.
    ///   - wall: seconds since 1970. The directory may give the end of its window in this clock.
    func record(_ headers: HTTPHeaders, asked: Duration?, now: Int64, wall: Int64) {
        func number(_ name: String) -> Int64? { headers.first(name: name).flatMap { Int64($0) } }
        state.withLock { state in
            if let asked { state.notBefore = max(state.notBefore, now + asked.components.seconds) }
            guard let remaining = number("X-RateLimit-Remaining"), let end = number("X-RateLimit-Reset") else {
                return
            }
            let reset = end > Self.firstMilliseconds ? end / 1000 : end
            let longest = RetryAfter.limit.components.seconds
            let left = Int(clamping: max(remaining, 0))
            let resetsAt = now + min(reset < Self.firstTime ? max(reset, 0) : max(reset - wall, 0), longest)
            // Responses of one window arrive in any order. The smallest count is the newest. Each clock has whole
            // seconds.
            let isSameWindow = state.remaining != nil && abs(resetsAt - state.resetsAt) <= 2
            state.remaining = isSameWindow ? min(left, state.remaining ?? left) : left
            state.resetsAt = isSameWindow ? state.resetsAt : resetsAt
        }
    }
}
