// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import Synchronization

/// Keeps deliveries away from a push service that has failed several times in a row.
///
/// One delivery tries the service again after the pause. Any thread.
final class PushBreaker: Sendable {
    /// Failures in a row that open the breaker of a service.
    static let failures = 5
    /// Seconds of the first and of the longest pause.
    static let pauses: ClosedRange<Int64> = 30...600
    /// Services of web subscriptions are chosen by clients, so their number is bounded.
    private static let most = 1_000

    private struct Service {
        /// Failures in a row.
        var failures = 0
        /// Pauses in a row.
        var pauses = 0
        /// The end of the pause, in seconds since 1970.
        var until: Int64 = 0
        /// True while one delivery tries the service after a pause.
        var isTried = false
    }

    private let services = Mutex<[String: Service]>([:])

    /// Nil if a delivery may go out now; else the time of the next attempt, in seconds since 1970.
    func wait(_ service: String, now: Int64) -> Int64? {
        services.withLock { services in
            guard var state = services[service], state.pauses > 0 else { return nil }
            if state.until > now { return state.until }
            // The attempt of this caller decides; the others wait for its end.
            (state.until, state.isTried) = (now + Self.pauses.lowerBound, true)
            services[service] = state
            return nil
        }
    }

    func succeed(_ service: String) { services.withLock { _ = $0.removeValue(forKey: service) } }

    /// Counts a failure; true if it opens the breaker.
    ///
    /// Attempts that were in progress when it opened do not lengthen the pause.
    func fail(_ service: String, now: Int64) -> Bool {
        services.withLock { services in
            if services[service] == nil, services.count >= Self.most { services = [:] }
            var state = services[service] ?? Service()
            defer { services[service] = state }
            state.failures += 1
            guard state.failures >= Self.failures, state.pauses == 0 || state.isTried else { return false }
            let pause = Self.pauses.lowerBound << Int64(min(state.pauses, 5))
            state.until = now + min(pause, Self.pauses.upperBound)
            (state.pauses, state.isTried) = (state.pauses + 1, false)
            return state.pauses == 1
        }
    }

    /// The service of an address: the host of a subscription, or the name of the platform.
    static func service(_ platform: PushPlatform, _ address: String) -> String {
        guard platform == .web else { return platform.service }
        return WebSubscription(stored: address)?.host ?? platform.service
    }
}
