// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Deletes old rows of the ledger, oldest first: ended calls and delivered events.
///
/// A refused event stays, and so does a waiting event while a directory is configured. Rows are in the order of their
/// creation, so it reads from the front and stops at the first young row. It passes over rows with a time in the
/// future. The newest row of each table stays, because row numbers are never used twice. Each step is a short
/// transaction.
struct LedgerRetention {
    let database: any DatabaseWriter
    /// The ring in use, whose position stays whatever its age.
    let ringID: Int64
    /// Configured outputs of ended calls; rows for other outputs are deleted.
    let outputs: [CallOutputSink]
    let hasDirectory: Bool
    /// Called after each step; false ends the work.
    ///
    /// Years of rows take minutes, and neither updates nor a stop wait for them.
    var between: () -> Bool = { true }
    /// Rows read in one transaction.
    var step = 500

    /// Deletes rows that ended before a time, except pending ones; both times are microseconds since 1970.
    ///
    /// - Returns: how many rows went.
    func prune(before: Int64, now: Int64) throws -> Int {
        var deleted = 0
        for sink in CallOutputSink.allCases where !outputs.contains(sink) {
            guard try forget(sink) else { return deleted }
        }
        let goesOn = try prune(
            rows: "SELECT id, created_at FROM event WHERE id > ?1 ORDER BY id LIMIT ?2", before: before / 1_000_000,
            now: now / 1_000_000,
            delete: """
                DELETE FROM event WHERE id > ?1 AND id <= ?2 AND \(settled) AND coalesce(settled_at, created_at) < ?3
                    AND id < (SELECT max(id) FROM event)
                """, &deleted)
        guard goesOn else { return deleted }
        _ = try prune(
            rows: "SELECT id, invite_at FROM call WHERE id > ?1 ORDER BY id LIMIT ?2", before: before, now: now,
            delete: """
                DELETE FROM call WHERE id > ?1 AND id <= ?2 AND ended_at < ?3 AND id < (SELECT max(id) FROM call)
                    AND NOT EXISTS (SELECT 1 FROM call_output WHERE call_output.call = call.id)
                """, &deleted)
        guard try prune(facts: "call_signal", before: now - Self.signals),
            try prune(facts: "return_candidate", before: before)
        else { return deleted }
        try database.write { database in
            try database.execute(sql: "DELETE FROM adopted_call WHERE call < (SELECT min(id) FROM call)")
            try database.execute(sql: "DELETE FROM return_key WHERE call NOT IN (SELECT id FROM call)")
            try database.execute(sql: Self.deleteSignatures)
            try HourTally.prune(before: before, now: now, in: database)
            try DoorCalls.prune(now: now / 1_000_000, in: database)
            // Positions of rings that no longer exist.
            try database.execute(
                sql: "DELETE FROM ring_position WHERE updated_at < ? AND ring_id <> ?",
                arguments: [before / 1_000_000, ringID])
        }
        return deleted
    }

    /// Deletes the verdicts on deleted calls.
    private static let deleteSignatures = "DELETE FROM call_signature WHERE call NOT IN (SELECT id FROM call)"

    /// Microseconds after which a signal serves no call any more, though the shared ledger has not got it.
    private static let signals: Int64 = 12 * 3_600_000_000

    /// Deletes facts of before a time that the shared ledger has not got; false to end the work.
    private func prune(facts table: String, before: Int64) throws -> Bool {
        while true {
            let count = try database.write { database in
                try database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE id < (SELECT min(id) FROM \(table)) + ? AND at < ?
                        """, arguments: [step, before])
                return database.changesCount
            }
            if count < step { return true }
            if !between() { return false }
        }
    }

    /// Deletes rows for an output that is no longer configured; false to end the work.
    private func forget(_ sink: CallOutputSink) throws -> Bool {
        let some = "SELECT id FROM call_output WHERE sink = ? LIMIT ?"
        while true {
            let count = try database.write { database in
                try database.execute(
                    sql: "DELETE FROM call_output WHERE id IN (\(some))", arguments: [sink.rawValue, step])
                return database.changesCount
            }
            if count < step { return true }
            if !between() { return false }
        }
    }

    /// Deletes the oldest settled rows of a ledger above `limit` bytes, down to nine tenths of `limit`.
    ///
    /// Settled are delivered events, and ended calls whose events are delivered. The file keeps its size, and free
    /// pages are used again.
    /// - Returns: the number of deleted rows, and whether the ledger is above `limit` with rows that must stay.
    func shrink(below limit: Int) throws -> (deleted: Int, isStuck: Bool) {
        guard try database.read(Self.usedBytes) > limit else { return (0, false) }
        var (deleted, isDone, isStuck) = (0, false, false)
        let mayGo = mayGo
        var passed = [Int64](repeating: 0, count: mayGo.count)
        while !isDone {
            try database.write { database in
                (isDone, isStuck) = (true, true)
                for (position, rows) in mayGo.enumerated() {
                    let last = try Int64.fetchOne(
                        database,
                        sql: "SELECT max(id) FROM (SELECT id FROM \(rows.table) WHERE id > ? ORDER BY id LIMIT ?)",
                        arguments: [passed[position], step])
                    guard let last else { continue }
                    try database.execute(
                        sql: """
                            DELETE FROM \(rows.table) WHERE id > ? AND id <= ?
                                AND id < (SELECT max(id) FROM \(rows.table)) AND \(rows.condition)
                            """, arguments: [passed[position], last])
                    deleted += database.changesCount
                    if rows.table == "call" {
                        try database.execute(
                            sql: Self.deleteSignatures + " AND call > ? AND call <= ?",
                            arguments: [passed[position], last])
                    }
                    passed[position] = last
                    (isDone, isStuck) = (false, false)
                }
                let used = try Self.usedBytes(database)
                if used <= limit / 10 * 9 { isDone = true }
                if used <= limit { isStuck = false }
            }
            if !between() { break }
        }
        return (deleted, isStuck)
    }

    private static func usedBytes(_ database: Database) throws -> Int {
        func pragma(_ name: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// The rows that may be deleted before their time.
    private var mayGo: [(table: String, condition: String)] {
        [
            ("event", settled), ("call_signal", "true"), ("return_candidate", "true"),
            (
                "call",
                """
                ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM call_output WHERE call_output.call = call.id)
                    AND NOT EXISTS (
                        SELECT 1 FROM event
                        WHERE NOT \(settled) AND event.id IN (shown_event, end_event, return_event))
                """
            ),
        ]
    }

    /// SQL for settled events: delivered, or waiting without a configured directory.
    private var settled: String { hasDirectory ? "state = 1" : "state IN (0, 1)" }

    /// False to end the work.
    private func prune(
        rows: String, before: Int64, now: Int64, delete: String, _ deleted: inout Int
    ) throws -> Bool {
        var (after, isDone) = (Int64(0), false)
        while !isDone {
            try database.write { database in
                let select = try LedgerStatement(database, rows)
                select.bind(1, after)
                select.bind(2, step)
                var (last, seen, isYoung) = (after, 0, false)
                while let (id, time) = try select.row({ ($0.integer(0) ?? 0, $0.integer(1) ?? 0) }) {
                    last = id
                    seen += 1
                    if (before...now).contains(time) { isYoung = true }
                }
                isDone = seen < step || isYoung
                guard seen > 0 else { return }
                try database.execute(sql: delete, arguments: [after, last, before])
                deleted += database.changesCount
                after = last
            }
            if !between() { return false }
        }
        return true
    }
}
