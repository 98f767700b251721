// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import GatewayStore
import Host
import PostgreSQL

/// Reads what other gateways have seen of this gateway's calls.
///
/// Each gateway stores such updates with its position in the ring, so they survive its kill. One ledger file numbers its
/// signals in order, and no order exists across files: the inbox has a position for each. It stores a position only after
/// the recorder has stored the effect. A repetition changes nothing. One thread, which blocks on the disk and the network.
package final class SignalInbox {
    /// Signals of one writer in one look.
    static let mostAtOnce: Int64 = 2_000
    /// Looks between two stored positions, which cost a commit of the ledger.
    private static let looksKept = 10

    private let shipper: LedgerShipper
    private let ledger: any SiblingLedger
    private let store: LedgerSignalCursors
    private let wall: @Sendable () -> Int64
    /// The last signal of each writer that was handed to the ledger; nil before the first look.
    private var read: [SignalCursor]?
    /// Positions that wait until their batch is stored, oldest first.
    private var pending: [(batch: UInt64, cursors: [SignalCursor])] = []
    private var looks = 0

    /// - Parameters:
    ///   - ledger: takes the updates.
    ///   - store: keeps the positions.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    package init(
        _ shipper: LedgerShipper, into ledger: any SiblingLedger, _ store: LedgerSignalCursors,
        wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall
    ) {
        (self.shipper, self.ledger, self.store, self.wall) = (shipper, ledger, store, wall)
    }

    /// Hands new signals to the ledger.
    ///
    /// - Returns: their number; 0 while the ledger takes no more.
    @discardableResult
    package func look() throws -> Int {
        try keep()
        var taken = 0
        while true {
            let membership = try shipper.registered()
            let cursors = try read ?? store.cursors()
            let values: [PostgreSQLValue] = [
                .integer(membership.node), .integer(membership.ledger), .integers(cursors.map(\.node)),
                .integers(cursors.map(\.ledger)), .integers(cursors.map(\.id)), .integer(Self.mostAtOnce),
            ]
            let rows = try shipper.session.execute(Self.selectNew, values)
            let server = try shipper.serverNow()
            let signals = try rows.map { try Signal($0, server: server, now: wall()) }
            guard !signals.isEmpty, let batch = ledger.take(signals.compactMap(\.update)) else { return taken }
            let next = Self.advanced(cursors, by: signals)
            read = next
            pending.append((batch, next))
            taken += signals.count
            guard signals.count >= Int(Self.mostAtOnce) else { return taken }
        }
    }

    /// Hands all signals of some calls to the ledger once more: for calls that were another gateway's.
    ///
    /// - Returns: false while the ledger takes no more.
    package func recall(_ calls: [CallIdentifier]) throws -> Bool {
        let names = PostgreSQLValue.texts(calls.map(\.description))
        let rows = try shipper.session.execute(Self.selectOfCalls, [names])
        let server = try shipper.serverNow()
        return ledger.take(try rows.compactMap { try Signal($0, server: server, now: wall()).update }) != nil
    }

    /// Stores the positions whose effect is stored; at once after `isLast`.
    package func keep(isLast: Bool = false) throws {
        looks += 1
        guard looks >= Self.looksKept || isLast else { return }
        let stored = ledger.storedBatch
        guard let last = pending.last(where: { $0.batch <= stored }) else { return }
        looks = 0
        try store.store(last.cursors)
        pending.removeAll { $0.batch <= stored }
    }

    private static func advanced(_ cursors: [SignalCursor], by signals: [Signal]) -> [SignalCursor] {
        var last = Dictionary(cursors.map { (Writer($0), $0) }) { $1 }
        for signal in signals { last[Writer(signal.cursor)] = signal.cursor }
        return Array(last.values)
    }

    private static let columns = """
        call_signal.node, call_signal.ledger, call_signal.id, call_signal.bytes, call_signal.at
        """

    /// The first new signals of each other ledger file; every file has a position.
    private static let selectNew = """
        SELECT call_signal.* FROM ledger.position
        LEFT JOIN unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS cursor (node, ledger, id)
            ON cursor.node = position.node AND cursor.ledger = position.ledger
        CROSS JOIN LATERAL (
            SELECT \(columns) FROM ledger.call_signal
            WHERE call_signal.node = position.node AND call_signal.ledger = position.ledger
                AND call_signal.id > coalesce(cursor.id, 0)
            ORDER BY call_signal.id LIMIT $6::bigint
        ) AS call_signal
        WHERE position.node <> $1::bigint OR position.ledger <> $2::bigint
        """

    private static let selectOfCalls = """
        SELECT \(columns) FROM ledger.call_signal
        WHERE call_id = ANY ($1::text[]) OR other_call_id = ANY ($1::text[])
        """
}

/// One ledger file of a gateway.
private struct Writer: Hashable {
    let node: Int64
    let ledger: Int64

    init(_ cursor: SignalCursor) { (node, ledger) = (cursor.node, cursor.ledger) }
}

/// A row of `ledger.call_signal`.
private struct Signal {
    let cursor: SignalCursor
    /// Nil for bytes that this version does not read.
    let update: ForeignUpdate?

    /// - Parameters:
    ///   - server: the time of PostgreSQL's clock.
    ///   - now: that of this gateway's clock.
    init(_ row: PostgreSQLRow, server: Int64, now: Int64) throws {
        cursor = SignalCursor(
            node: try row.integer(0) ?? 0, ledger: try row.integer(1) ?? 0, id: try row.integer(2) ?? 0)
        let age = server - (try row.integer(4) ?? server)
        update = try row.bytes(3).flatMap { CallUpdate(bytes: $0) }.map { ForeignUpdate($0, age: age, now: now) }
    }
}
