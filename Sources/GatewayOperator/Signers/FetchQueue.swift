// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Trust

/// Chooses the next fetch of a certificate within the limits of hosts and of the gateway. For one task.
///
/// Times are seconds of the steady clock.
struct FetchQueue {
    /// The most fetches at once.
    static let mostRunning = 4
    /// The most fetches from one host at once.
    static let mostOfHost = 2
    /// The most addresses that wait. A call names a dropped one again.
    static let mostWaiting = 1000
    /// Seconds for which a host without a response is skipped.
    static let silencePause: Int64 = 60

    /// One address to fetch.
    struct Order: Equatable, Sendable {
        let address: String
        /// The host in lower case; the address for one that has none.
        let host: String
        /// Whether the stored certificate did not fit a token, or is not in force.
        let isRenewal: Bool
        /// The addresses that are allowed to those who have asked for this one.
        var rules: [AddressRules]
    }

    /// The next step for an order.
    enum Step: Equatable {
        case start(Order)
        /// The host has failed too often, the last time for this reason.
        case skip(Order, FetchFailure)
    }

    private var waiting: [Order] = []
    /// Addresses that wait or run.
    private var taken: Set<String> = []
    private var running: [String: Int] = [:]
    private var breaker = HostCircuitBreaker(pause: Self.silencePause)

    /// Orders that wait.
    var waitingCount: Int { waiting.count }
    /// Fetches that run.
    var runningCount: Int { running.values.reduce(0, +) }

    /// Hosts that are skipped.
    func skippedHosts(at now: Int64) -> Int { breaker.skipped(at: now) }

    /// Adds an address unless it waits or runs already. One that waits is allowed also by these rules from then on.
    ///
    /// - Returns: false for a full queue.
    mutating func add(_ address: String, isRenewal: Bool, rules: [AddressRules]) -> Bool {
        if taken.contains(address) {
            if let index = waiting.firstIndex(where: { $0.address == address }) {
                waiting[index].rules += rules.filter { !waiting[index].rules.contains($0) }
            }
            return true
        }
        guard waiting.count < Self.mostWaiting else { return false }
        taken.insert(address)
        let host = CertificateFetch.host(of: address) ?? address
        waiting.append(Order(address: address, host: host, isRenewal: isRenewal, rules: rules))
        return true
    }

    /// The next step; nil while nothing waits that may start.
    mutating func next(at now: Int64) -> Step? {
        guard runningCount < Self.mostRunning,
            let index = waiting.firstIndex(where: { running[$0.host, default: 0] < Self.mostOfHost })
        else { return nil }
        let order = waiting.remove(at: index)
        running[order.host, default: 0] += 1
        if let failure = breaker.failure(of: order.host, at: now) { return .skip(order, failure) }
        return .start(order)
    }

    /// Ends a step.
    ///
    /// - Parameter failure: the failure of the host; nil for a response, and for a skipped order.
    mutating func finish(_ order: Order, _ failure: FetchFailure?, wasSkipped: Bool, at now: Int64) {
        taken.remove(order.address)
        let count = running[order.host, default: 1] - 1
        running[order.host] = count > 0 ? count : nil
        guard !wasSkipped else { return }
        if let failure { breaker.record(failure, of: order.host, at: now) } else { breaker.spoke(order.host) }
    }
}
