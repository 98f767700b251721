// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Outputs of ended calls beside the directory: the operator's own systems.
package enum CallOutputSink: Int, Hashable, Sendable, CaseIterable {
    /// The file of call records, `outcomes.cdr_file`.
    case file = 1
    /// `outcomes.webhook`.
    case webhook = 2
    /// `outcomes.kafka`.
    case kafka = 3
}

/// An ended call that waits for its output.
package struct PendingCallOutput: Hashable, Sendable {
    package let id: Int64
    package let call: LedgerCallRow
    package let attempts: Int
}

/// The queue of ended calls for an output, filled by the transaction that stores their end.
///
/// A call leaves the queue after its delivery, so each is delivered at least once. Its call id reveals a repetition.
/// Safe from any thread.
package struct CallOutputStore: Sendable {
    private let files: HeraldDatabase
    /// Throws while there is no ledger.
    private var database: any DatabaseWriter { get throws { try files.ledger } }
    private let clock: QueueClock

    /// Works on the ledger file of an open database.
    package init(_ database: HeraldDatabase, clock: QueueClock = QueueClock()) {
        files = database
        self.clock = clock
    }

    /// Longest wait in seconds; a longer one was set before a start with the clock set back.
    private static let longestWait: Int64 = 7200

    /// The due calls of an output, the longest waiting first; `now` in seconds since 1970.
    package func due(_ sink: CallOutputSink, limit: Int, now: Int64) throws -> [PendingCallOutput] {
        try clock.follow(now: now) { behind in
            try database.write { database in
                let sql = "UPDATE call_output SET due_at = due_at - ? WHERE due_at > ?"
                try database.execute(sql: sql, arguments: [behind, now])
            }
        }
        return try database.read { database in
            let sql = """
                SELECT call.*, call_output.id AS output_id, call_output.attempts AS output_attempts
                FROM call_output JOIN call ON call.id = call_output.call
                WHERE sink = ? AND NOT due_at BETWEEN ? + 1 AND ? + ? ORDER BY due_at, call_output.id LIMIT ?
                """
            let waiting: StatementArguments = [sink.rawValue, now, now, Self.longestWait, limit]
            return try Row.fetchAll(database, sql: sql, arguments: waiting).map { row in
                PendingCallOutput(
                    id: row["output_id"], call: LedgerCallRow(row: row), attempts: row["output_attempts"])
            }
        }
    }

    /// Removes delivered calls.
    package func done(_ ids: [Int64]) throws {
        try database.write { database in
            for id in ids { try database.execute(sql: "DELETE FROM call_output WHERE id = ?", arguments: [id]) }
        }
    }

    /// Numbers of waiting calls by output; reads an index alone.
    package func waiting() throws -> [CallOutputSink: Int] {
        try database.read { database in
            let sql = "SELECT sink, count(*) FROM call_output GROUP BY sink"
            return try Row.fetchAll(database, sql: sql).reduce(into: [:]) { counts, row in
                if let sink = CallOutputSink(rawValue: row[0]) { counts[sink] = row[1] }
            }
        }
    }

    /// Makes a call wait until `until`, in seconds since 1970.
    package func postpone(_ id: Int64, until: Int64) throws {
        try database.write { database in
            try database.execute(
                sql: "UPDATE call_output SET attempts = attempts + 1, due_at = ? WHERE id = ?", arguments: [until, id])
        }
    }
}
