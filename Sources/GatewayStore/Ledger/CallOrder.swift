// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Finds calls by their time without an index: rows are in the order of their INVITEs.
///
/// Adopted calls and those that a PBX reported are left out: their rows came later. A step of the clock disturbs the order by
/// a while, so a search begins earlier by that.
enum CallOrder {
    /// A row before which every call began earlier, found in some twenty reads; nil for a ledger without calls.
    ///
    /// - Parameter time: microseconds since 1970.
    static func firstRow(from time: Int64, in database: Database) throws -> Int64? {
        guard var low = try Int64.fetchOne(database, sql: "SELECT min(id) FROM call"),
            var high = try Int64.fetchOne(database, sql: "SELECT max(id) FROM call")
        else { return nil }
        while low < high {
            let middle = low + (high - low) / 2
            let sql = """
                SELECT id, invite_at FROM call WHERE id >= ? AND id < ? AND id NOT IN (SELECT call FROM adopted_call)
                    AND NOT \(DoorCalls.isByDoor) ORDER BY id LIMIT 1
                """
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [middle, high]) else {
                high = middle
                continue
            }
            let (id, began): (Int64, Int64) = (row["id"], row["invite_at"])
            if began < time { low = id + 1 } else { high = middle }
        }
        return low
    }
}
