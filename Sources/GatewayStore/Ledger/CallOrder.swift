// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Finds calls by their time without an index: rows are in the order of their INVITEs.
///
/// Adopted calls are left out: their rows came later. The row of a call that a PBX reported came up to `DoorCalls.latest` after its
/// begin. Such a row counts where no other one is near, with that uncertainty. A step of the clock disturbs the order by a
/// while, so a search begins earlier by that. Some twenty reads, each of at most `nearby` rows besides adopted ones.
enum CallOrder {
    /// Rows that are read for one that is in order.
    static let nearby: Int64 = 64

    /// A row before which every call began earlier; nil for a ledger without calls.
    ///
    /// - Parameter time: microseconds since 1970.
    static func firstRow(from time: Int64, in database: Database) throws -> Int64? {
        try row(time, in: database) { .init(isEarlier: $0.began + $0.lateness < time, end: $1) }
    }

    /// A row from which on every row was written at a time or later; nil for a ledger without calls.
    ///
    /// The calls of these rows began then or later, but for adopted ones and for those that a PBX reported.
    ///
    /// - Parameter time: microseconds since 1970.
    static func lastRow(from time: Int64, in database: Database) throws -> Int64? {
        try row(time, in: database) { row, _ in .init(isEarlier: row.began < time, end: row.id) }
    }

    /// A row that was read, with the most microseconds between its call and itself.
    private struct Probe {
        let id: Int64
        let began: Int64
        let lateness: Int64

        init(_ row: Row) {
            let isByDoor: Bool = row["is_by_door"]
            (id, began, lateness) = (row["id"], row["invite_at"], isByDoor ? DoorCalls.latest : 0)
        }
    }

    /// Whether a row lies before the wanted one, else the end of the rows in which that one lies.
    private struct Verdict {
        let isEarlier: Bool
        let end: Int64
    }

    private static func row(
        _ time: Int64, in database: Database, by judge: (Probe, _ middle: Int64) -> Verdict
    ) throws -> Int64? {
        guard var low = try Int64.fetchOne(database, sql: "SELECT min(id) FROM call"),
            var high = try Int64.fetchOne(database, sql: "SELECT max(id) FROM call")
        else { return nil }
        while low < high {
            let middle = low + (high - low) / 2
            guard let probe = try Self.probe(middle..<high, in: database) else {
                high = middle
                continue
            }
            let verdict = judge(probe, middle)
            if verdict.isEarlier { low = probe.id + 1 } else { high = verdict.end }
        }
        return low
    }

    /// The first of some rows that is in order, if it is near; else the first one of a reported call.
    private static func probe(_ rows: Range<Int64>, in database: Database) throws -> Probe? {
        let select = try database.cachedStatement(sql: next)
        guard let first = try Row.fetchOne(select, arguments: [rows.lowerBound, rows.upperBound]).map(Probe.init)
        else { return nil }
        guard first.lateness > 0 else { return first }
        let near = try database.cachedStatement(sql: nextInOrder)
        let end = min(rows.upperBound, first.id + nearby)
        return try Row.fetchOne(near, arguments: [first.id, end]).map(Probe.init) ?? first
    }

    /// The first row from one on and before another that is no adopted call.
    static let next = """
        SELECT id, invite_at, \(DoorCalls.isByDoor) AS is_by_door FROM call
        WHERE id >= ? AND id < ? AND id NOT IN (SELECT call FROM adopted_call) ORDER BY id LIMIT 1
        """

    /// The first of those that no PBX reported.
    static let nextInOrder = """
        SELECT id, invite_at, 0 AS is_by_door FROM call
        WHERE id >= ? AND id < ? AND id NOT IN (SELECT call FROM adopted_call) AND NOT \(DoorCalls.isByDoor)
        ORDER BY id LIMIT 1
        """
}
