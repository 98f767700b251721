// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import GatewayStore
package import Logging
import PostgreSQL

/// Goes on with the open calls and the waiting events of a gateway that has died.
///
/// A gateway is adopted if PostgreSQL has not seen it for the lease, and if it does not respond as a sibling either. The
/// adopter fences it, claims some calls and events in each round, and hands them to its own ledger. A claim that is not in
/// its own rows yet is handed over again after a restart. A gateway that was adopted finds out which calls are no longer
/// its own, and closes them with the result of the other one. The thread of the shipper.
package final class GatewayAdoption {
    /// Time without a failure after which this gateway may adopt: an outage of PostgreSQL makes everyone look silent.
    static let patience = Duration.seconds(ShippingStatements.lease)
    /// Most watched calls that one round looks up.
    private static let mostWatched = 5_000

    private let ledger: RecorderCluster
    private let siblings: @Sendable () -> [SiblingSight]
    private let log: Logger

    private var membership: ShippingStatements.Membership?
    private var steadySince: Int64?
    /// Claims that were handed to the ledger since the registration.
    private var handedCalls: Set<String> = []
    private var handedEvents: [AdoptionStatements.ClaimedEvent: UInt64] = [:]
    /// Calls that were handed to the ledger, and whose signals of all gateways are to be read once more.
    private var recalls: [CallIdentifier] = []
    /// Keys of events that were handed over: an adopter that died may have left the same event twice.
    private var handedKeys: Set<String> = []
    /// Calls and events claimed of each gateway.
    private var claimed: [Int64: (calls: Int, events: Int)] = [:]
    private var watched: [String] = []
    /// The last batch of closed calls.
    private var closing: UInt64 = 0
    private var rounds = 0

    /// - Parameter siblings: the sibling gateways as this one sees them.
    package init(
        _ ledger: RecorderCluster, siblings: @escaping @Sendable () -> [SiblingSight],
        log: Logger = Logger(label: "herald.shared")
    ) {
        (self.ledger, self.siblings, self.log) = (ledger, siblings, log)
    }

    /// The number of the last stored batch; read it before the round of the shipper that ships its rows.
    package var stored: UInt64 { ledger.storedHandovers }

    /// Records that a round has failed: who is silent is unknown for a while.
    package func interrupted() { steadySince = nil }

    /// One round, after one of the shipper.
    ///
    /// - Parameters:
    ///   - shipped: the last batch whose rows the shared ledger has.
    ///   - now: microseconds of the monotonic clock.
    /// - Throws: a database error; the next round goes on.
    package func round(_ shipper: LedgerShipper, shipped: UInt64?, now: Int64) throws {
        guard let membership = shipper.membership else { return interrupted() }
        do throws(PostgreSQLError) {
            if membership != self.membership { try begin(membership, shipper.session) }
            ledger.isMember()
            let since = steadySince ?? now
            steadySince = since
            if let shipped { try confirm(through: shipped, membership, shipper.session) }
            if .microseconds(now - since) >= Self.patience { try adopt(membership, shipper.session) }
            try handOver(membership, shipper.session)
            try watch(membership, shipper.session)
        } catch {
            // The next sign of life finds the fence too, and registers again.
            if error.constraint == "fenced" { return interrupted() }
            throw error
        }
    }

    /// Reads the signals of the calls that were handed over once more: they were read before the calls were here.
    ///
    /// - Parameter read: false while the ledger takes no more.
    package func recall(by read: ([CallIdentifier]) throws -> Bool) throws {
        guard !recalls.isEmpty, try read(recalls) else { return }
        recalls = []
    }

    // MARK: The return of a gateway

    /// Begins anew after a registration: leaves the calls that others go on with.
    private func begin(
        _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        let rows = try session.execute(AdoptionStatements.away(membership))
        let away = rows.compactMap { row in Self.call(row) }
        if !away.isEmpty {
            _ = ledger.take(away.map { .lend($0.id) })
            log.warning(
                """
                open calls of this gateway go on at another, because this one was silent; their end is taken over from there
                """,
                metadata: [
                    "calls": "\(away.count)",
                    "gateways": "\(Set(away.map(\.gateway)).sorted().joined(separator: ", "))",
                ])
        }
        let ended = try session.execute(AdoptionStatements.endedBefore(membership))
        let offsets = clockOffsets
        let ends = ended.compactMap { row in try? Handover.close(Self.foreign(row, .call, from: 2, offsets)) }
        if !ends.isEmpty {
            _ = ledger.take(ends)
            log.notice(
                "open calls of a restored ledger have ended before; their end is taken over from the shared ledger",
                metadata: ["calls": "\(ends.count)"])
        }
        (handedCalls, handedEvents, handedKeys, steadySince) = ([], [:], [], nil)
        // Calls of a lost ledger file of this gateway.
        while try claimed(AdoptionStatements.claimEarlier(room: AdoptionStatements.mostAtOnce, membership), session) {}
        self.membership = membership
    }

    private static func call(_ row: PostgreSQLRow) -> (id: String, gateway: String)? {
        guard let id = try? row.text(0), let gateway = try? row.text(1) else { return nil }
        return (id, gateway)
    }

    /// Closes calls that have ended at another gateway.
    private func watch(
        _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        rounds += 1
        // A ledger that stores nothing gets no further steps.
        guard rounds % 2 == 0, ledger.storedHandovers >= closing else { return }
        if watched.isEmpty { watched = Array(ledger.watchedCalls) }
        guard !watched.isEmpty else { return }
        let some = Array(watched.suffix(Self.mostWatched))
        let ended = try session.execute(AdoptionStatements.ended(some, membership))
        watched.removeLast(some.count)
        let offsets = clockOffsets
        let steps = ended.compactMap { row in try? Handover.close(Self.foreign(row, .call, from: 2, offsets)) }
        if !steps.isEmpty { closing = ledger.take(steps) }
    }

    // MARK: Adoption

    private struct Silent {
        let node: Int64
        let name: String
        let address: String
        let epoch: Int64
        let seconds: Int64
        let isAdopted: Bool

        init?(_ row: PostgreSQLRow) throws {
            guard let node = try row.integer(0), let name = try row.text(1), let address = try row.text(2),
                let epoch = try row.integer(3), let seconds = try row.integer(4)
            else { return nil }
            (self.node, self.name, self.address, self.epoch, self.seconds) = (node, name, address, epoch, seconds)
            isAdopted = try row.integer(5) != nil
        }
    }

    private func adopt(
        _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        let rows = try session.execute(AdoptionStatements.silent(membership))
        for gateway in rows.compactMap({ try? Silent($0) }) {
            if !gateway.isAdopted {
                guard try fence(gateway, membership, session) else { continue }
            }
            try goOn(with: gateway, membership, session)
        }
    }

    /// Fences a gateway that is silent here too; false if it is not, or another gateway was faster.
    private func fence(
        _ gateway: Silent, _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) -> Bool {
        // A gateway that is no sibling of this one may have callers whose messages never pass here.
        guard let sight = siblings().first(where: { $0.address == gateway.address }), !sight.responds else {
            return false
        }
        let results = try session.atomically(
            AdoptionStatements.fence(gateway.node, epoch: gateway.epoch, membership))
        guard results.count > 1, results[1].affected == 1 else { return false }
        claimed[gateway.node] = (0, 0)
        log.warning(
            """
            a gateway is silent in the shared ledger and as a sibling; this one goes on with its open calls and sends its \
            events; see whether it runs
            """, metadata: ["gateway": "\(gateway.name)", "silent": "\(gateway.seconds) s"])
        return true
    }

    /// Claims the next calls and events of a fenced gateway.
    private func goOn(
        with gateway: Silent, _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        // Earlier claims have to be in this gateway's rows first.
        guard handedCalls.count < AdoptionStatements.mostAtOnce, handedEvents.count < AdoptionStatements.mostAtOnce
        else { return }
        let results = try session.atomically(
            AdoptionStatements.claim(gateway.node, room: AdoptionStatements.mostAtOnce, membership))
        guard results.count > 3, results[1].count == 1 else { return }
        let (calls, events) = (results[2].affected, results[3].affected)
        let sum = claimed[gateway.node] ?? (0, 0)
        claimed[gateway.node] = (sum.calls + calls, sum.events + events)
        guard calls + events == 0 else { return }
        try session.execute(AdoptionStatements.finish(gateway.node, membership))
        log.notice(
            "the open calls and waiting events of a silent gateway are taken over",
            metadata: ["gateway": "\(gateway.name)", "calls": "\(sum.calls)", "events": "\(sum.events)"])
        claimed[gateway.node] = nil
        if handedEvents.isEmpty { handedKeys = [] }
    }

    /// Whether a transaction that begins with a sign of life has claimed anything.
    private func claimed(_ commands: [PostgreSQLCommand], _ session: PostgreSQLSession) throws(PostgreSQLError) -> Bool
    {
        try session.atomically(commands).dropFirst().contains { $0.affected > 0 }
    }

    /// Hands claims to the ledger, each once.
    private func handOver(
        _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        let results = try session.run([
            AdoptionStatements.claimedCalls(membership), AdoptionStatements.claimedEvents(membership),
        ])
        guard results.count == 2 else { return }
        let offsets = clockOffsets
        var waiting: Set<String> = []
        var steps: [Handover] = []
        for row in results[0] {
            guard let call = try? Self.foreign(row, .call, from: 2, offsets), let id = call.text("call_id") else {
                continue
            }
            waiting.insert(id)
            guard !handedCalls.contains(id) else { continue }
            steps.append(.adopt(call))
            if let name = CallIdentifier(id) { recalls.append(name) }
        }
        handedCalls = waiting
        var events: [AdoptionStatements.ClaimedEvent] = []
        for row in results[1] {
            guard let node = try? row.integer(2), let file = try? row.integer(3),
                let event = try? Self.foreign(row, .event, from: 4, offsets), let id = event.integer("id")
            else { continue }
            let claim = AdoptionStatements.ClaimedEvent(node: node, ledger: file, id: id)
            guard handedEvents[claim] == nil else { continue }
            events.append(claim)
            // Its gateway has sent it after all.
            if event.integer("state") == 0, handedKeys.insert(event.text("key") ?? "").inserted {
                steps.append(.send(event))
            }
        }
        guard !steps.isEmpty || !events.isEmpty else { return }
        let batch = ledger.take(steps)
        for event in events { handedEvents[event] = batch }
    }

    /// Records which claimed events are in this gateway's rows of the shared ledger.
    private func confirm(
        through batch: UInt64, _ membership: ShippingStatements.Membership, _ session: PostgreSQLSession
    ) throws(PostgreSQLError) {
        let stored = handedEvents.filter { $0.value <= batch }.map(\.key)
        guard !stored.isEmpty else { return }
        _ = try session.atomically([
            ShippingStatements.beat(membership), AdoptionStatements.stored(stored, membership),
        ])
        for event in stored { handedEvents[event] = nil }
    }

    /// Clocks of the siblings less this one's, by address.
    private var clockOffsets: [String: Int64] {
        Dictionary(siblings().map { ($0.address, $0.clockOffset ?? 0) }) { first, _ in first }
    }

    /// A row of another gateway, whose name and address are its first columns.
    private static func foreign(
        _ row: PostgreSQLRow, _ table: SharedTable, from first: Int, _ offsets: [String: Int64]
    ) throws -> ForeignRow {
        ForeignRow(
            gateway: try row.text(0) ?? "", values: try SharedLedgerReader.values(row, table.columns, from: first),
            clockOffset: try row.text(1).flatMap { offsets[$0] } ?? 0)
    }
}

extension PostgreSQLSession {
    /// Runs one statement.
    @discardableResult
    fileprivate func execute(_ command: PostgreSQLCommand) throws(PostgreSQLError) -> PostgreSQLRows {
        try execute(command.sql, command.values)
    }
}
