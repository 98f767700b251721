// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// The ended calls that a PBX reported by a door: a repeated report of one is no other call.
///
/// A call that passes the gateway is known for as long as its INVITE may be retransmitted. A PBX repeats a report for as long
/// as nobody confirms it. A row is written in the transaction of the end, so a confirmed report is known after any crash.
enum DoorCalls {
    static let table = """
        CREATE TABLE door_call (call_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;

        """

    /// A row of `call` that a PBX reported; the field of `DecisionEvidence.header`.
    static let isByDoor =
        "((coalesce(evidence, 0) >> 1) & 7 = \(DecisionEvidence.Header.report.rawValue))"

    /// Most microseconds between the begin of such a call and its row in `call`: the age of a report that a door takes, and an
    /// hour for a clock that is ahead and for the ring.
    static let latest: Int64 = (86_400 + 3_600) * 1_000_000

    /// Seconds for which a row is kept: twice the age of a call that a door takes.
    private static let lifetime: Int64 = 2 * 86_400

    /// Adds those of some calls that have ended.
    ///
    /// - Parameter now: seconds since 1970.
    static func store(_ calls: [LedgerCall], now: Int64, in database: Database) throws {
        for call in calls where call.machine.record.isByDoor && call.machine.record.endedAt != nil {
            let insert = try LedgerStatement(
                database, "INSERT OR IGNORE INTO door_call (call_id, at) VALUES (?1, ?2)")
            insert.bind(1, call.callID)
            insert.bind(2, now)
            try insert.run()
        }
    }

    /// Deletes rows that no door needs.
    ///
    /// - Parameter now: seconds since 1970.
    static func prune(now: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM door_call WHERE at < ?", arguments: [now - lifetime])
    }
}
