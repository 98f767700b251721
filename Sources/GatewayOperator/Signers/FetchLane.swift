// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import GatewaySync
import Trust

/// Orders of one kind with limits of their own. For one task; times are seconds of the steady clock.
struct FetchLane {
    let mostRunning: Int
    let mostOfHost: Int
    let mostWaiting: Int
    var waiting: [FetchQueue.Order] = []
    /// Of this lane alone: addresses that calls invent on a host silence nothing in the other one.
    private(set) var breaker = HostCircuitBreaker(pause: FetchQueue.silencePause)
    private var running: [String: Int] = [:]

    init(mostRunning: Int, mostOfHost: Int, mostWaiting: Int) {
        self.mostRunning = mostRunning
        self.mostOfHost = mostOfHost
        self.mostWaiting = mostWaiting
    }

    var hasSpace: Bool { waiting.count < mostWaiting }
    /// Fetches that run.
    var runningCount: Int { running.values.reduce(0, +) }

    /// Allows an address that waits by further rules.
    mutating func allow(_ address: String, _ rules: [AddressRules]) {
        guard let index = waiting.firstIndex(where: { $0.address == address }) else { return }
        let known = waiting[index].rules
        waiting[index].rules += rules.filter { !known.contains($0) }
    }

    /// The next step; nil while nothing waits that may start.
    mutating func next(at now: Int64) -> FetchQueue.Step? {
        guard runningCount < mostRunning,
            let index = waiting.firstIndex(where: { running[$0.host, default: 0] < mostOfHost })
        else { return nil }
        let order = waiting.remove(at: index)
        running[order.host, default: 0] += 1
        if let failure = breaker.failure(of: order.host, at: now) { return .skip(order, failure) }
        return .start(order)
    }

    /// Ends a step, as `FetchQueue.finish`.
    mutating func finish(_ order: FetchQueue.Order, _ failure: FetchFailure?, wasSkipped: Bool, at now: Int64) {
        let count = running[order.host, default: 1] - 1
        running[order.host] = count > 0 ? count : nil
        guard !wasSkipped else { return }
        if let failure { breaker.record(failure, of: order.host, at: now) } else { breaker.spoke(order.host) }
    }
}
