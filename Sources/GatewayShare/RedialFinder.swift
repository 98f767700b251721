// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import HostSystem
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

    private let shipper: LedgerShipper
    private let ledger: any RedialLedger
    private let siblings: @Sendable () -> [SiblingSight]
    private let wall: @Sendable () -> Int64

    /// - Parameters:
    ///   - ledger: has the waiting calls.
    ///   - siblings: the sibling gateways as this one sees them.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    package init(
        _ shipper: LedgerShipper, into ledger: any RedialLedger,
        siblings: @escaping @Sendable () -> [SiblingSight] = { [] },
        wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall
    ) {
        (self.shipper, self.ledger, self.siblings, self.wall) = (shipper, ledger, siblings, wall)
    }

    /// Looks for further attempts of the calls that wait, and ends the wait of those that have none.
    package func look() throws {
        let waiting = ledger.awaitedRedials.sorted { $0.until < $1.until }.prefix(Self.most)
        guard !waiting.isEmpty else { return }
        let membership = try shipper.registered()
        for first in stride(from: 0, to: waiting.count, by: Self.mostAtOnce) {
            try look(for: Array(waiting[first..<min(first + Self.mostAtOnce, waiting.count)]), membership)
        }
    }

    private func look(for waiting: [AwaitedRedial], _ membership: ShippingStatements.Membership) throws {
        let now = wall()
        let results = try shipper.session.run([
            RedialStatements.silence(membership, responding: siblings().filter(\.responds).map(\.address)),
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
