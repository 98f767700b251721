// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import HTTPTypes
import Synchronization

/// The state of a client's limit after a request.
struct WindowState: Hashable, Sendable {
    let limit: Int
    let remaining: Int
    /// The end of the window, in seconds since 1970.
    let reset: Int64
    let isWithin: Bool

    /// The limit that refuses, or else the one with fewer remaining requests.
    static func tighter(_ one: WindowState?, _ other: WindowState?) -> WindowState? {
        guard let one, let other else { return one ?? other }
        if one.isWithin != other.isWithin { return one.isWithin ? other : one }
        return other.remaining < one.remaining ? other : one
    }
}

/// Counts requests in windows of a minute, each from its first request on; thread-safe.
///
/// The number of keys is limited. When it is reached within a minute, all counts are dropped. A few requests too many
/// pass then; refusing new keys instead would let one flood block everyone else.
final class RequestWindows<Key: Hashable & Sendable>: Sendable {
    private struct Window {
        let end: Int64
        var count = 0
        /// Requests above the limit that passed because they are refused last.
        var reserve = 0
    }

    static var length: Int64 { 60 }

    private let capacity: Int
    private let windows = Mutex<[Key: Window]>([:])

    init(capacity: Int = 10_000) { self.capacity = capacity }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - goesLast: true for a request that may use a second allowance of the same size above the limit.
    ///   - now: seconds since 1970.
    /// - Returns: nil without a limit.
    func count(_ key: Key, limit: Int, goesLast: Bool = false, now: Int64) -> WindowState? {
        if limit == 0 { return nil }
        return windows.withLock { windows in
            var window = windows[key] ?? Window(end: 0)
            // A clock that was set back by more than a window also begins a new one.
            if now >= window.end || now < window.end - Self.length { window = Window(end: now + Self.length) }
            var isWithin = window.count < limit
            window.count = min(window.count + 1, limit)
            if !isWithin, goesLast {
                isWithin = window.reserve < limit
                window.reserve = min(window.reserve + 1, limit)
            }
            if windows[key] == nil, windows.count >= capacity {
                windows = windows.filter { $0.value.end > now }
                // Half of it must be free. Otherwise each new key of a steady flood would scan all the others.
                if windows.count > capacity / 2 { windows = [:] }
            }
            windows[key] = window
            return WindowState(
                limit: limit, remaining: limit - window.count, reset: window.end, isWithin: isWithin)
        }
    }

    /// The count of keys.
    var remembered: Int { windows.withLock { $0.count } }
}

extension Refusal {
    /// Too many requests; `Retry-After` has the seconds until the window ends.
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
