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
        var failures = 0
        /// Seconds since 1970.
        var until: Int64 = 0
    }

    private let services = Mutex<[String: Service]>([:])

    /// Nil if a delivery may go out now; else the time of the next attempt, in seconds since 1970.
    func wait(_ service: String, now: Int64) -> Int64? {
        services.withLock { services in
            guard var state = services[service], state.failures >= Self.failures else { return nil }
            if state.until > now { return state.until }
            // The attempt of this caller decides; the others wait for its end.
            state.until = now + Self.pauses.lowerBound
            services[service] = state
            return nil
        }
    }

    func succeed(_ service: String) { services.withLock { _ = $0.removeValue(forKey: service) } }

    /// Counts a failure; true if it opens the breaker.
    func fail(_ service: String, now: Int64) -> Bool {
        services.withLock { services in
            if services[service] == nil, services.count >= Self.most { services = [:] }
            var state = services[service] ?? Service()
            state.failures += 1
            let doublings = min(max(state.failures - Self.failures, 0), 5)
            state.until = now + min(Self.pauses.lowerBound << Int64(doublings), Self.pauses.upperBound)
            services[service] = state
            return state.failures == Self.failures
        }
    }

    /// The service of an address: the host of a subscription, or the name of the platform.
    static func service(_ platform: PushPlatform, _ address: String) -> String {
        guard platform == .web else { return platform.service }
        return WebSubscription(stored: address)?.host ?? platform.service
    }
}
