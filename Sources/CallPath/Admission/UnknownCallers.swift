// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The unknown peers whose INVITEs were rejected or dropped in the last ten minutes: a carrier with a new address is among them.
///
/// Known scanners are left out. Memory is bounded by `capacity` addresses. When more send, those that came in the fewest
/// rounds leave first: a carrier keeps calling, a forged address seldom comes twice. Pure: time comes in.
public struct UnknownCallers: Sendable {
    /// Seconds that an INVITE counts.
    public static let window: Int64 = 600
    static let capacity = 256
    /// Addresses that are named.
    static let shown = 5

    /// An address and its INVITEs.
    public struct Caller: Sendable {
        /// Its last message that was rejected.
        public fileprivate(set) var rejection: Rejection
        public fileprivate(set) var invites: UInt64
        /// Rounds of `add` with an INVITE of it.
        fileprivate var rounds: UInt64 = 1
        /// Monotonic seconds.
        fileprivate var seenAt: Int64
    }

    private var callers: [Caller] = []
    /// INVITEs by minute of the monotonic clock, oldest first.
    private var minutes: [(minute: Int64, invites: UInt64)] = []
    /// The last time an address left for another, in monotonic seconds.
    private var overflowedAt: Int64?

    public init() {}

    /// Adds what was rejected in one round.
    ///
    /// - Parameter now: monotonic seconds.
    mutating func add(_ rejections: [Rejection], at now: Int64) {
        forget(at: now)
        for rejection in rejections where rejection.sender == .unknown && rejection.invites > 0 {
            // No carrier: a program of this machine, beside a test call.
            if rejection.cause == .testCall { continue }
            count(rejection.invites, at: now)
            keep(rejection, at: now)
        }
    }

    private mutating func keep(_ rejection: Rejection, at now: Int64) {
        if let known = callers.firstIndex(where: { $0.rejection.source.hasSameHost(as: rejection.source) }) {
            callers[known].rejection = rejection
            callers[known].invites += rejection.invites
            if callers[known].seenAt != now { callers[known].rounds += 1 }
            callers[known].seenAt = now
            return
        }
        if callers.count >= Self.capacity, let last = callers.indices.min(by: leavesBefore) {
            callers.remove(at: last)
            overflowedAt = now
        }
        callers.append(Caller(rejection: rejection, invites: rejection.invites, seenAt: now))
    }

    private func leavesBefore(_ first: Int, _ second: Int) -> Bool {
        (callers[first].rounds, callers[first].seenAt) < (callers[second].rounds, callers[second].seenAt)
    }

    private mutating func count(_ invites: UInt64, at now: Int64) {
        if minutes.last?.minute == now / 60 {
            minutes[minutes.count - 1].invites += invites
        } else {
            minutes.append((now / 60, invites))
        }
    }

    private mutating func forget(at now: Int64) {
        callers.removeAll { now - $0.seenAt > Self.window }
        minutes.removeAll { now / 60 - $0.minute > Self.window / 60 }
    }

    /// The INVITEs and addresses of the window that ends at `now`, in monotonic seconds; nil without one.
    public func summary(at now: Int64) -> Summary? {
        var present = self
        present.forget(at: now)
        guard !present.callers.isEmpty else { return nil }
        let order = present.callers.sorted { ($0.rounds, $0.seenAt) > ($1.rounds, $1.seenAt) }
        return Summary(
            invites: present.minutes.reduce(0) { $0 + $1.invites }, addresses: order.count,
            isMore: overflowedAt.map { now - $0 <= Self.window } ?? false, callers: Array(order.prefix(Self.shown)))
    }

    /// The unknown peers of the last ten minutes.
    public struct Summary: Sendable {
        public let invites: UInt64
        public let addresses: Int
        /// True if more addresses than `addresses` sent INVITEs.
        public let isMore: Bool
        /// Those that came most often first; at most five.
        public let callers: [Caller]
    }
}
