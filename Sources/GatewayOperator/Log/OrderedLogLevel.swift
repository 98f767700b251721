// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization

/// A log level that the operator has set at run time, perhaps for a limited time.
///
/// It ends by itself: each read compares a deadline, so no timer has to fire. Any thread.
final class OrderedLogLevel: Sendable {
    private struct Order {
        let level: Logger.Level
        /// Nil for no end.
        let deadline: ContinuousClock.Instant?
        /// The end in seconds since 1970, for the operator.
        let until: Int64?
    }

    private let order = Mutex<Order?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: the monotonic clock.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// The ordered level; nil without one.
    var level: Logger.Level? { current?.level }

    /// The end of the order in seconds since 1970; nil for no end, and without an order.
    var until: Int64? { current?.until }

    /// Sets a level; nil returns to that of the configuration.
    ///
    /// - Parameter time: nil for no end.
    func set(_ level: Logger.Level?, for time: Duration? = nil) {
        let seconds = time.map { $0 / .seconds(1) }
        let next = level.map { level in
            Order(
                level: level, deadline: time.map { now().advanced(by: $0) },
                until: seconds.map { Int64(Date().timeIntervalSince1970 + $0) })
        }
        order.withLock { $0 = next }
    }

    private var current: Order? {
        order.withLock { order in
            if let deadline = order?.deadline, deadline <= now() { order = nil }
            return order
        }
    }
}
