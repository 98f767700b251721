// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Records which rows of a ledger file change, for `LedgerChanges`.
///
/// Triggers add each changed call and event to `shared_change` in the transaction of the change, so none is missed and
/// none invented. They exist from the moment the file is opened, whether or not PostgreSQL is there.
enum ChangeRecording {
    /// Records the changes of a file from its opening on.
    static func begin(in ledger: any DatabaseWriter) throws {
        try ledger.write { database in
            for trigger in triggers { try database.execute(sql: trigger.sql) }
            if try origin(database) == nil { try begin(database) }
            try recordOpening(database)
        }
    }

    /// Stops the recording and forgets its changes: for a gateway without a shared ledger.
    static func stop(in ledger: any DatabaseWriter) throws {
        guard try ledger.read(origin) != nil else { return }
        try ledger.write { database in
            for trigger in triggers { try database.execute(sql: "DROP TRIGGER IF EXISTS \(trigger.name)") }
            let tables = ["shared_change", "shared_origin", "call_signal", "signal_cursor", "return_candidate"]
            for table in tables { try database.execute(sql: "DELETE FROM \(table)") }
        }
    }

    /// The number of the last change ever recorded.
    static let last = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'shared_change')"

    static func origin(_ database: Database) throws -> SharedOrigin? {
        let select = try LedgerStatement(database, "SELECT ledger, opening FROM shared_origin")
        return try select.firstRow { SharedOrigin(ledger: $0.integer(0) ?? 0, opening: $0.integer(1) ?? 0) }
    }

    static func recordOpening(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE shared_origin SET opening = ?, opened = coalesce(opened, \(last))",
            arguments: [Int64.random(in: 1...Int64.max)])
    }

    /// Numbers the file, and records what the other gateways need first: open calls, calls that may be returned, and events
    /// on their way.
    static func begin(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO shared_origin (id, ledger) VALUES (1, ?);
                """, arguments: [Int64.random(in: 1...Int64.max)])
        try ReturnCandidates.begin(database)
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO shared_change (kind, row)
                    SELECT 0, id FROM call WHERE ended_at IS NULL OR returnable = 1 ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 1, id FROM event WHERE state = 0 ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 2, id FROM call_signal ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 3, id FROM return_candidate ORDER BY id;
                """)
    }

    private static let triggers: [(name: String, sql: String)] = SharedTable.allCases.flatMap { table in
        (table.isAppendOnly ? ["INSERT"] : ["INSERT", "UPDATE"]).map { change in
            let name = "shared_\(table.name)_\(change.lowercased())"
            let sql = """
                CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(change) ON \(table.name) BEGIN
                    INSERT OR REPLACE INTO shared_change (kind, row) VALUES (\(table.rawValue), NEW.id);
                END
                """
            return (name, sql)
        }
    }
}
