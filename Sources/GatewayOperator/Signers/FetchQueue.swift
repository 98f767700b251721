// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import GatewaySync
import Trust

/// Chooses the next fetch of a certificate within the limits of hosts and of the gateway. For one task.
///
/// Anybody can invent addresses in calls. Refreshes of stored certificates and of lists have a lane of their own, so that no
/// call delays them.
/// Times are seconds of the steady clock.
struct FetchQueue {
    /// The most fetches for calls at once.
    static let mostRunning = 4
    /// The most fetches for calls from one host at once.
    static let mostOfHost = 2
    /// The most addresses of calls that wait. A call names a dropped one again.
    static let mostWaiting = 1000
    /// The most refreshes at once, each from another host.
    static let mostRefreshing = 2
    /// The most refreshes that wait. Others stay due.
    static let mostRefreshesWaiting = 100
    /// Seconds for which a host without a response is skipped.
    static let silencePause: Int64 = 60

    /// The reason of a fetch.
    enum Reason: Equatable, Sendable {
        /// A call has named an address without a certificate.
        case unknown
        /// The stored certificate did not fit the token of a call, or does not count.
        case renewal
        /// The stored certificate is to be kept in force.
        case refresh
        /// A list that decides on signers is to be kept up to date.
        case list

        /// Whether no call has asked.
        var isRefresh: Bool { self == .refresh || self == .list }
    }

    /// One address to fetch.
    struct Order: Equatable, Sendable {
        let address: String
        /// The host in lower case; the address for one that has none.
        let host: String
        let reason: Reason
        /// The addresses that are allowed to those who have asked for this one.
        var rules: [AddressRules]

        var isRenewal: Bool { reason == .renewal }
    }

    /// The next step for an order.
    enum Step: Equatable {
        case start(Order)
        /// The host has failed too often, the last time for this reason.
        case skip(Order, FetchFailure)
    }

    /// Addresses that wait or run.
    private var taken: Set<String> = []
    private var calls = FetchLane(
        mostRunning: Self.mostRunning, mostOfHost: Self.mostOfHost, mostWaiting: Self.mostWaiting)
    private var refreshes = FetchLane(
        mostRunning: Self.mostRefreshing, mostOfHost: 1, mostWaiting: Self.mostRefreshesWaiting)

    /// Orders that wait.
    var waitingCount: Int { calls.waiting.count + refreshes.waiting.count }
    /// Fetches that run.
    var runningCount: Int { calls.runningCount + refreshes.runningCount }
    /// Whether further refreshes may wait.
    var takesRefreshes: Bool { refreshes.hasSpace }

    /// Hosts that are skipped.
    func skippedHosts(at now: Int64) -> Int {
        calls.breaker.skipped(at: now).union(refreshes.breaker.skipped(at: now)).count
    }

    /// Adds an address unless it waits or runs already. One that waits is allowed also by these rules from then on.
    ///
    /// - Returns: false for a full queue.
    mutating func add(_ address: String, _ reason: Reason, rules: [AddressRules]) -> Bool {
        if taken.contains(address) {
            calls.allow(address, rules)
            refreshes.allow(address, rules)
            return true
        }
        // The lists are few, and a revocation is due before any certificate.
        guard reason == .list || (reason == .refresh ? refreshes.hasSpace : calls.hasSpace) else { return false }
        taken.insert(address)
        let host = CertificateFetch.host(of: address) ?? address
        let order = Order(address: address, host: host, reason: reason, rules: rules)
        switch reason {
        case .list: refreshes.waiting.insert(order, at: refreshes.waiting.prefix { $0.reason == .list }.count)
        case .refresh: refreshes.waiting.append(order)
        case .unknown, .renewal: calls.waiting.append(order)
        }
        return true
    }

    /// The next step; nil while nothing waits that may start.
    mutating func next(at now: Int64) -> Step? { refreshes.next(at: now) ?? calls.next(at: now) }

    /// Ends a step.
    ///
    /// - Parameter failure: the failure of the host; nil for a response, and for a skipped order.
    mutating func finish(_ order: Order, _ failure: FetchFailure?, wasSkipped: Bool, at now: Int64) {
        taken.remove(order.address)
        if order.reason.isRefresh {
            refreshes.finish(order, failure, wasSkipped: wasSkipped, at: now)
        } else {
            calls.finish(order, failure, wasSkipped: wasSkipped, at: now)
        }
    }
}
