// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB

/// Writes the facts from which gateways find returns together, inside the transaction of the calls.
///
/// An original is a fact at its end for each of its called parties, a call back for each name of its subscriber once it has reached the other side.
struct ReturnCandidates {
    private let database: Database
    private let returns: ReturnPolicy

    init(_ database: Database, _ returns: ReturnPolicy) { (self.database, self.returns) = (database, returns) }

    /// Stores the facts of a batch.
    ///
    /// - Parameter corrected: calls that ended before, and are originals since a late report.
    func store(_ batch: LedgerBatch, corrected: [LedgerCall]) throws {
        for call in batch.calls {
            let record = call.machine.record
            guard let endedAt = record.endedAt, call.continuedAs == nil, returns.isOriginal(record) else { continue }
            let time = Self.time(endedAt, of: call, after: batch.clocks)
            for key in returns.originalKeys(of: record) {
                try store(call, key, number: record.caller?.digits, at: time)
            }
        }
        for call in corrected {
            let record = call.machine.record
            guard let endedAt = record.endedAt else { continue }
            let steps = try LedgerClock.stepsSinceEnd(ofRow: call.row, in: database)
            for key in returns.originalKeys(of: record) {
                try store(call, key, number: record.caller?.digits, at: endedAt &+ steps)
            }
        }
        for call in batch.reachedOutbound {
            let record = call.machine.record
            for key in returns.subscriberKeys(of: record) {
                try store(
                    call, key, number: record.destination?.digits,
                    at: Self.time(record.inviteAt, of: call, after: batch.clocks))
            }
        }
    }

    /// A time of a call by the present clock; an ended call keeps the clock of its end.
    private static func time(_ time: Int64, of call: LedgerCall, after clocks: [LedgerClock]) -> Int64 {
        guard call.machine.record.endedAt != nil else { return time }
        return clocks.reduce(time) { $1.id > call.endClock ?? 0 ? $0 &+ $1.setBy : $0 }
    }

    private func store(_ call: LedgerCall, _ key: String, number: UInt64?, at time: Int64) throws {
        guard let number else { return }
        let record = call.machine.record
        let insert = try LedgerStatement(database, Self.insert)
        insert.bind(1, time)
        insert.bind(2, Int(record.direction.rawValue))
        insert.bind(3, call.row)
        insert.bind(4, Int64(number))
        insert.bind(5, call.callID)
        insert.bind(6, key)
        insert.bind(7, record.brandID)
        try insert.run()
    }

    /// Adds the originals of before the gateway shared its ledger.
    static func begin(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO return_candidate (at, direction, call, number, call_id, subscriber_key, brand_id)
                SELECT \(LedgerClock.endedAt), 1, id, caller, call_id, subscriber_key, brand_id FROM call
                WHERE returnable = 1 AND caller IS NOT NULL AND subscriber_key IS NOT NULL ORDER BY id;
                INSERT INTO return_candidate (at, direction, call, number, call_id, subscriber_key, brand_id)
                SELECT \(LedgerClock.endedAt), 1, call.id, call.caller, call_id, return_key.subscriber_key, brand_id
                FROM return_key JOIN call ON call.id = return_key.call WHERE returnable = 1
                ORDER BY call.id
                """)
    }

    private static let insert = """
        INSERT INTO return_candidate (at, direction, call, number, call_id, subscriber_key, brand_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """
}
