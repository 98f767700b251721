// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import GatewayStore
import Host
import PostgreSQL

/// Finds the next attempts of failed calls among the calls of all gateways.
///
/// A call that failed before any phone rang waits in its gateway's ledger. If the carrier's next attempt passed another
/// gateway, the call goes on there and ends here without an event. So a carrier's attempts are one call, whichever gateways
/// it takes. Calls without a failure cost nothing. One thread, which blocks on the network.
package final class RedialFinder {
    /// Waiting calls in one statement.
    static let mostAtOnce = 2_000
    /// Waiting calls in one look, the oldest first: 8 s of a carrier whose 2,500 calls a second all fail.
    static let most = 20_000
    /// Time between an INVITE and the transaction that ships it, by a gateway that writes each second.
    static let shipping = Duration.seconds(2)
    /// Time after an outage of PostgreSQL in which a gateway that has not been seen since may still come back.
    static let patience = Duration.seconds(ShippingStatements.lease)
    /// Time between two looks that shows an outage without an error: statements of a frozen server take long and succeed.
    static let longPause = Duration.seconds(7)

    private let shipper: LedgerShipper
    private let ledger: RecorderCluster
    private let siblings: @Sendable () -> [SiblingSight]
    private let wall: @Sendable () -> Int64
    private let steady: @Sendable () -> Int64
    /// The first and the last look since the start or an outage, by the monotonic clock.
    private var looks: (first: Int64, last: Int64)?

    /// - Parameters:
    ///   - ledger: has the waiting calls.
    ///   - siblings: the sibling gateways as this one sees them.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    ///   - steady: microseconds of the monotonic clock.
    package init(
        _ shipper: LedgerShipper, into ledger: RecorderCluster,
        siblings: @escaping @Sendable () -> [SiblingSight] = { [] },
        wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall,
        steady: @escaping @Sendable () -> Int64 = { SteadyClock.microseconds }
    ) {
        (self.shipper, self.ledger, self.siblings, self.wall) = (shipper, ledger, siblings, wall)
        self.steady = steady
    }

    /// Records an outage: all gateways seem silent after it, and the first one back waits for the others.
    package func interrupted() { looks = nil }

    /// Looks for further attempts of the calls that wait, and ends the wait of those that have none.
    package func look() throws {
        let isPatient = isPatient()
        let waiting = ledger.awaitedRedials.sorted { $0.until < $1.until }.prefix(Self.most)
        guard !waiting.isEmpty else { return }
        let membership = try shipper.registered()
        for first in stride(from: 0, to: waiting.count, by: Self.mostAtOnce) {
            try look(for: Array(waiting[first..<min(first + Self.mostAtOnce, waiting.count)]), isPatient, membership)
        }
    }

    /// Whether an outage has ended only now.
    private func isPatient() -> Bool {
        let now = steady()
        let known = looks.flatMap { .microseconds(now - $0.last) < Self.longPause ? $0 : nil }
        let first = known?.first ?? now
        looks = (first, now)
        return .microseconds(now - first) < Self.patience
    }

    private func look(
        for waiting: [AwaitedRedial], _ isPatient: Bool, _ membership: ShippingStatements.Membership
    ) throws {
        let now = wall()
        let results = try shipper.session.run([
            RedialStatements.silence(
                membership, responding: siblings().filter(\.responds).map(\.address), isPatient: isPatient),
            RedialStatements.next(of: waiting, membership),
        ])
        guard results.count == 2, let silence = try results[0].first?.integer(0) else { return }
        let found = try Self.found(results[1])
        // All gateways have shipped what they had at this time.
        let known = now - silence - Int64(Self.shipping / .microseconds(1))
        let steps = waiting.compactMap { call -> Handover? in
            if let next = found[call.callID] { return .tryElsewhere(call.name, as: next) }
            return call.until <= known ? .endWithoutRedial(call.name) : nil
        }
        if !steps.isEmpty { _ = ledger.take(steps) }
    }

    /// The next attempts by the identifier of the waiting call.
    private static func found(_ rows: PostgreSQLRows) throws -> [String: AwaitedRedial.Next] {
        var found: [String: AwaitedRedial.Next] = [:]
        for row in rows {
            guard let waiting = try row.text(0), let call = try row.text(1).flatMap({ CallIdentifier($0) }),
                let attempt = try row.text(2).flatMap({ CallIdentifier($0) })
            else { continue }
            found[waiting] = AwaitedRedial.Next(call: call, attempt: attempt)
        }
        return found
    }
}
