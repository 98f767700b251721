// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Takes old rows out of the ledger, oldest first: ended calls and delivered events, never a waiting or refused event.
///
/// Rows stand in the order they were made, so it reads from the front and stops at the first young one; the newest row
/// of each table always stays, because numbers of rows are never used twice. Each step is a short transaction of its
/// own, so the recorder gets its turn in between.
struct LedgerRetention {
    let database: any DatabaseWriter
    /// Rows looked at in one transaction.
    var step = 500

    /// Deletes what ended before the moment, given in microseconds since 1970.
    ///
    /// - Returns: how many rows went.
    func prune(before: Int64) throws -> Int {
        var deleted = try prune(
            rows: "SELECT id, created_at FROM event WHERE id > ?1 ORDER BY id LIMIT ?2", before: before / 1_000_000,
            delete: """
                DELETE FROM event WHERE id > ?1 AND id <= ?2 AND state = 1 AND settled_at < ?3
                    AND id < (SELECT max(id) FROM event)
                """)
        deleted += try prune(
            rows: "SELECT id, invite_at FROM call WHERE id > ?1 ORDER BY id LIMIT ?2", before: before,
            delete: """
                DELETE FROM call WHERE id > ?1 AND id <= ?2 AND ended_at < ?3 AND id < (SELECT max(id) FROM call)
                """)
        try database.write { database in
            // Positions of rings whose files are long gone.
            try database.execute(sql: "DELETE FROM ring_position WHERE updated_at < ?", arguments: [before / 1_000_000])
        }
        return deleted
    }

    private func prune(rows: String, before: Int64, delete: String) throws -> Int {
        var (after, deleted, isDone) = (Int64(0), 0, false)
        while !isDone {
            try database.write { database in
                let select = try LedgerStatement(database, rows)
                select.bind(1, after)
                select.bind(2, step)
                var (last, seen) = (after, 0)
                while let (id, time) = try select.row({ ($0.integer(0) ?? 0, $0.integer(1) ?? 0) }) {
                    guard time < before else { continue }
                    last = max(last, id)
                    seen += 1
                }
                isDone = seen < step
                guard seen > 0 else { return }
                try database.execute(sql: delete, arguments: [after, last, before])
                deleted += database.changesCount
                after = last
            }
        }
        return deleted
    }
}
