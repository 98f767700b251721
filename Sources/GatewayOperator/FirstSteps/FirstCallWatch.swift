// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Synchronization

/// Watches for the first calls: those of the ledger, which is read once, and the counters since the start.
final class FirstCallWatch: Sendable {
    /// The wait after a failed read of the ledger.
    private static let pause = Duration.seconds(15)

    private struct State {
        /// Of the run before; nil until the ledger was read.
        var stored: FirstCalls?
        var nextRead: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// The calls seen until now.
    ///
    /// - Parameters:
    ///   - inbound: calls of trunks since the start.
    ///   - branded: of those, calls with a brand.
    ///   - read: reads the ledger.
    func seen(
        inbound: UInt64, branded: UInt64, at now: ContinuousClock.Instant = .now, read: () throws -> FirstCalls
    ) -> FirstCalls {
        // The ledger is of no use once the counters show a branded call.
        let stored = branded > 0 ? nil : stored(at: now, read)
        return FirstCalls(
            hasInbound: inbound > 0 || stored?.hasInbound ?? false,
            hasBranded: branded > 0 || stored?.hasBranded ?? false)
    }

    private func stored(at now: ContinuousClock.Instant, _ read: () throws -> FirstCalls) -> FirstCalls? {
        let isDue = state.withLock { state in
            guard state.stored == nil, state.nextRead.map({ now >= $0 }) ?? true else { return false }
            state.nextRead = now + Self.pause
            return true
        }
        if isDue, let found = try? read() { state.withLock { $0.stored = found } }
        return state.withLock { $0.stored }
    }
}
