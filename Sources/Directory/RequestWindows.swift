// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import HTTPTypes
import Synchronization

/// Counts requests in windows of a minute, each from its first request on; any thread.
///
/// It remembers a bounded number of keys. When there are more within a minute, all are forgotten: that lets a few
/// requests too many through, where refusing newcomers would let one crowd shut all others out.
final class RequestWindows<Key: Hashable & Sendable>: Sendable {
    /// How a key stands after a request.
    struct Standing: Hashable, Sendable {
        let limit: Int
        let remaining: Int
        /// Seconds since 1970 at which the window ends.
        let reset: Int64
        let isWithin: Bool
    }

    private struct Window {
        let end: Int64
        var count = 0
    }

    static var length: Int64 { 60 }

    private let capacity: Int
    private let windows = Mutex<[Key: Window]>([:])

    init(capacity: Int = 10_000) { self.capacity = capacity }

    /// Counts a request; `now` is seconds since 1970.
    func count(_ key: Key, limit: Int, now: Int64) -> Standing {
        windows.withLock { windows in
            var window = windows[key] ?? Window(end: 0)
            // Also when the clock was set back by more than a window.
            if now >= window.end || now < window.end - Self.length { window = Window(end: now + Self.length) }
            window.count = min(window.count + 1, limit + 1)
            if windows[key] == nil, windows.count >= capacity {
                windows = windows.filter { $0.value.end > now }
                if windows.count >= capacity { windows = [:] }
            }
            windows[key] = window
            return Standing(
                limit: limit, remaining: max(limit - window.count, 0), reset: window.end,
                isWithin: window.count <= limit)
        }
    }

    /// How many keys are remembered.
    var remembered: Int { windows.withLock { $0.count } }
}

extension Refusal {
    /// Too many requests; says when it may go on.
    static func tooMany(_ message: String, limit: Int, reset: Int64, now: Int64) -> Refusal {
        let wait = max(reset - now, 1)
        var refusal = Refusal(
            .tooManyRequests, message, code: "RATE_LIMIT_EXCEEDED", headers: [.retryAfter: "\(wait)"])
        refusal.details = [
            "limit": .int(limit), "window": .string("1 minute"), "retry_after": .int(Int(wait)),
        ]
        refusal.guidance = "Wait \(wait) seconds before retrying"
        return refusal
    }
}
