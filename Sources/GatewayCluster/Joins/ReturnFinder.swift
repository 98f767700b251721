// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
package import GatewayStore
import Host
import PostgreSQL

/// Finds calls that the subscriber has called back, among the calls of all gateways.
///
/// Originals and call backs are facts in `ledger.return_candidate`, in the order of each writer. A gateway looks at its new
/// facts after they are committed: at the original of each call back, and at the first call back after each original. The
/// later of two facts finds the earlier one, whichever gateway ships it, and however late. `ledger.returned` has a row for
/// each settled original. Its key is the lock and the once. The gateways of both calls take their part from there. One
/// thread, which blocks on the disk and the network.
package final class ReturnFinder {
    /// Facts in one look.
    static let mostAtOnce: Int64 = 5_000
    /// Rows that are taken over at once.
    static let mostTaken: Int64 = 1_000

    private let shipper: LedgerShipper
    private let recorder: OutcomeRecorder
    private let window: Int64
    private let wall: @Sendable () -> Int64
    /// The number of the last fact that was looked at; nil before the first look.
    private var joined: (membership: ShippingStatements.Membership, connection: Int, id: Int64)?

    /// - Parameters:
    ///   - recorder: stores what concerns calls of this gateway.
    ///   - window: longest time between a call and its call back, in seconds.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    package init(
        _ shipper: LedgerShipper, into recorder: OutcomeRecorder, window: Int64,
        wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall
    ) {
        (self.shipper, self.recorder, self.window, self.wall) = (shipper, recorder, window, wall)
    }

    /// Looks at the new facts of this gateway, and takes over its part of what all gateways have found.
    ///
    /// - Returns: the number of originals and call backs that were taken over.
    @discardableResult
    package func look() throws -> Int {
        let membership = try shipper.registered()
        while try join(membership) {}
        return try takeOver(membership)
    }

    /// Looks at some new facts; true if more may wait.
    private func join(_ membership: ShippingStatements.Membership) throws -> Bool {
        let last = try lastJoined(membership)
        let own: [PostgreSQLValue] = [.integer(membership.node), .integer(membership.ledger), .integer(last)]
        let newest = try session.execute(ReturnStatements.newest, own + [.integer(Self.mostAtOnce)])
        guard let row = newest.first, let through = try row.integer(0), let count = try row.integer(1) else {
            return false
        }
        let hits = try session.execute(
            ReturnStatements.callBacks, own + [.integer(through), .integer(window * 1_000_000)])
        for hit in hits { try settle(hit) }
        try session.execute(ReturnStatements.joined, [own[0], own[1], .integer(through)])
        joined = (membership, session.connections, through)
        return count >= Self.mostAtOnce
    }

    /// Settles the originals of a call back.
    private func settle(_ callBack: PostgreSQLRow) throws {
        let key = try (0..<3).map { PostgreSQLValue.integer(try callBack.integer($0)) }
        let command = PostgreSQLCommand(ReturnStatements.settle, key + [.integer(window * 1_000_000)])
        for isLast in [false, true] {
            do throws(PostgreSQLError) {
                _ = try session.atomically([command])
                return
            } catch {
                // Another gateway has settled the same call back meanwhile; the second look sees it.
                guard error.constraint == "returned_once", !isLast else { throw error }
            }
        }
    }

    /// Stores what concerns calls of this gateway, and marks it.
    private func takeOver(_ membership: ShippingStatements.Membership) throws -> Int {
        let own: [PostgreSQLValue] = [.integer(membership.node), .integer(membership.ledger)]
        var taken = 0
        while true {
            let rows = try session.execute(ReturnStatements.waiting, own + [.integer(Self.mostTaken)])
            guard rows.count > 0 else { return taken }
            let server = try shipper.serverNow()
            let found = try rows.map { try FoundReturn($0, server: server, now: wall()) }
            try recorder.store(found.compactMap(\.shared))
            let names: [PostgreSQLValue] = [.texts(found.map(\.callID)), .texts(found.map(\.callBackID))]
            _ = try session.atomically([
                PostgreSQLCommand(ReturnStatements.reported, own + names),
                PostgreSQLCommand(ReturnStatements.noted, own + names),
            ])
            taken += found.count
        }
    }

    private func lastJoined(_ membership: ShippingStatements.Membership) throws -> Int64 {
        // A failover may have taken facts back, and this position with them.
        if let joined, joined.membership == membership, joined.connection == session.connections { return joined.id }
        let row = try session.execute(
            "SELECT joined FROM ledger.position WHERE node = $1 AND ledger = $2",
            [.integer(membership.node), .integer(membership.ledger)]
        ).first
        return try row?.integer(0) ?? 0
    }

    private var session: PostgreSQLSession { shipper.session }
}

/// A row of `ReturnStatements.waiting`.
private struct FoundReturn {
    let callID: String
    /// The call id of the call back; nil if it returned a newer original.
    let callBackID: String?
    /// Nil for a number that no gateway writes.
    let shared: SharedReturn?

    /// - Parameters:
    ///   - server: the time of PostgreSQL's clock.
    ///   - now: that of this gateway's clock.
    init(_ row: PostgreSQLRow, server: Int64, now: Int64) throws {
        callID = try row.text(0) ?? ""
        callBackID = try row.text(1)
        let (endedAt, at) = (try row.integer(4) ?? 0, try row.integer(5) ?? 0)
        let number = try row.integer(2).flatMap(UInt64.init(exactly:)).flatMap(E164Number.init(digits:))
        guard let number else {
            shared = nil
            return
        }
        shared = SharedReturn(
            original: ReturnedOriginal(
                callID: callID, number: number, brandID: try row.text(3), endedAt: endedAt, eventID: try row.text(6)),
            originalCall: try row.integer(8), callBack: try row.integer(7),
            returnedAt: callBackID == nil ? nil : now - max(0, server - at),
            latency: Int((max(0, at - endedAt) + 500_000) / 1_000_000))
    }
}
