// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host

/// Time, waits and random numbers of the sync services. Tests inject their own.
package struct ServiceClock: Sendable {
    /// Wall clock, seconds since 1970.
    package var now: @Sendable () -> Int64
    /// Steady clock in seconds, unaffected by clock steps: for ages and waits of this process.
    package var steady: @Sendable () -> Int64
    /// Waits. Throws `CancellationError` when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Uniform random numbers in 0 ..< 1. They spread retries and syncs of many gateways.
    package var chance: @Sendable () -> Double

    /// - Parameter steady: the wall clock by default, so that a test has one clock.
    package init(
        now: @escaping @Sendable () -> Int64, steady: (@Sendable () -> Int64)? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void, chance: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.steady = steady ?? now
        self.sleep = sleep
        self.chance = chance
    }

    /// The machine's clocks.
    package static let system = ServiceClock(
        now: { Int64(Date().timeIntervalSince1970) },
        steady: { ClockStepDetector.sinceBoot() / 1_000_000 },
        sleep: { try await Task.sleep(for: $0) },
        chance: { Double.random(in: 0..<1) })

    /// Returns a random duration within ± `share` of `duration`.
    func spread(_ duration: Duration, by share: Double) -> Duration {
        duration * (1 + share * (2 * chance() - 1))
    }
}

extension Duration {
    /// Whole seconds, rounded up, at least one.
    var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
