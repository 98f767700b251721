// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import Synchronization

/// What the directory still allows, shared by all requests of a client, so that they slow down before they are refused.
///
/// Reads `X-RateLimit-Remaining` and `X-RateLimit-Reset` of every answer and `Retry-After` of a refusal. A request that
/// is let through is taken off what remains, because answers of requests in flight know nothing of each other. Any
/// thread. Source: mobile-api, "Rate Limits".
final class RequestPace: Sendable {
    private struct State {
        var remaining: Int?
        /// When the window ends, in seconds of a clock that nobody sets.
        var resetsAt: Int64 = 0
        /// No request before this moment, by the same clock.
        var notBefore: Int64 = 0

        mutating func roll(_ now: Int64) {
            // A new window: the first answer says what it allows.
            if now >= resetsAt { remaining = nil }
        }

        func wait(_ now: Int64) -> Int64 {
            max(notBefore - now, (remaining ?? 1) > 0 ? 0 : resetsAt - now, 0)
        }
    }

    /// Below this a reset is a number of seconds from now, above it a time since 1970.
    private static let firstTime: Int64 = 100_000_000
    /// Above this a time is written in milliseconds.
    private static let firstMilliseconds: Int64 = 100_000_000_000
    private let state = Mutex(State())

    /// How long no request should be made; zero when one may.
    ///
    /// - Parameter now: seconds of a clock that nobody sets, here and in `admit` and `note`.
    func pause(now: Int64) -> Duration {
        state.withLock { state in
            state.roll(now)
            return .seconds(state.wait(now))
        }
    }

    /// Takes one request off what remains.
    ///
    /// - Returns: nil if it may be made now, else how long to wait before asking again.
    func admit(now: Int64) -> Duration? {
        state.withLock { state in
            state.roll(now)
            let wait = state.wait(now)
            guard wait == 0 else { return .seconds(wait) }
            state.remaining = state.remaining.map { $0 - 1 }
            return nil
        }
    }

    /// Learns from the headers of an answer.
    ///
    /// - Parameters:
    ///   - asked: its `Retry-After`, if it was a refusal.
    ///   - wall: seconds since 1970, by which the directory may tell the end of its window.
    func note(_ headers: HTTPHeaders, asked: Duration?, now: Int64, wall: Int64) {
        func number(_ name: String) -> Int64? { headers.first(name: name).flatMap { Int64($0) } }
        state.withLock { state in
            if let asked { state.notBefore = max(state.notBefore, now + asked.components.seconds) }
            guard let remaining = number("X-RateLimit-Remaining"), let told = number("X-RateLimit-Reset") else {
                return
            }
            let reset = told > Self.firstMilliseconds ? told / 1000 : told
            let longest = RetryAfter.limit.components.seconds
            let left = Int(clamping: max(remaining, 0))
            let resetsAt = now + min(reset < Self.firstTime ? max(reset, 0) : max(reset - wall, 0), longest)
            // Answers of one window come in any order; the smallest number is the newest. Each clock is cut to a second.
            let isSameWindow = state.remaining != nil && abs(resetsAt - state.resetsAt) <= 2
            state.remaining = isSameWindow ? min(left, state.remaining ?? left) : left
            state.resetsAt = isSameWindow ? state.resetsAt : resetsAt
        }
    }
}
