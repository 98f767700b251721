// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables of the gateway, built step by step; a released step keeps its name.
///
/// Times of calls are microseconds since 1970, all others seconds since 1970.
enum Migrations {
    /// Tables of `herald.sqlite`: calls, the event outbox, the position in the ring.
    ///
    /// Every row goes to the end of its table, and every index of a busy table covers only rows with pending work. So a
    /// call costs the same in a file of ten rows and of ten million. A lookup of an old call by its id reads the table
    /// backwards, which only the operator needs. `shown_event`, `end_event` and `return_event` of a call are ids of its
    /// events. `call_id` and `outcome` of an event are in its key, because every byte of a row is written twice.
    static var ledger: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("ledger 1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE call (
                        id INTEGER PRIMARY KEY,
                        call_id TEXT NOT NULL,
                        sip_call_id TEXT NOT NULL,
                        direction INTEGER NOT NULL,
                        trunk TEXT,
                        caller INTEGER,
                        destination INTEGER,
                        subscriber TEXT,
                        subscriber_key TEXT,
                        brand_id TEXT,
                        brand_name TEXT,
                        carrier_name TEXT,
                        decision TEXT NOT NULL,
                        invite_at INTEGER NOT NULL,
                        progress_at INTEGER,
                        ringing_at INTEGER,
                        answered_at INTEGER,
                        cancelled_at INTEGER,
                        ended_at INTEGER,
                        refused_at INTEGER,
                        status INTEGER,
                        q850 INTEGER,
                        sip_cause INTEGER,
                        attempts INTEGER NOT NULL DEFAULT 1,
                        outcome TEXT,
                        ring_seconds INTEGER,
                        call_seconds INTEGER,
                        shown_event INTEGER,
                        end_event INTEGER,
                        return_event INTEGER,
                        returnable INTEGER NOT NULL DEFAULT 0,
                        returned_at INTEGER
                    );
                    CREATE INDEX call_open ON call (id) WHERE ended_at IS NULL;
                    CREATE INDEX call_returnable ON call (caller, subscriber_key, ended_at) WHERE returnable = 1;

                    CREATE TABLE event (
                        id INTEGER PRIMARY KEY,
                        key TEXT NOT NULL,
                        call_id TEXT AS (substr(key, -36)),
                        outcome TEXT AS (substr(key, 1, length(key) - 37)),
                        number TEXT NOT NULL,
                        surface TEXT NOT NULL,
                        displayed_at TEXT NOT NULL,
                        meta TEXT NOT NULL,
                        created_at INTEGER NOT NULL,
                        state INTEGER NOT NULL DEFAULT 0,
                        attempts INTEGER NOT NULL DEFAULT 0,
                        due_at INTEGER NOT NULL,
                        event_id TEXT,
                        counted INTEGER,
                        reason TEXT,
                        status INTEGER,
                        settled_at INTEGER
                    );
                    CREATE INDEX event_due ON event (due_at) WHERE state = 0;
                    CREATE INDEX event_refused ON event (id) WHERE state = 2;

                    CREATE TABLE ring_position (
                        ring_id INTEGER PRIMARY KEY,
                        sequence INTEGER NOT NULL,
                        updated_at INTEGER NOT NULL
                    );
                    """)
        }
        migrator.registerMigration("ledger answerers and attempts") { database in
            try database.execute(
                sql: """
                    ALTER TABLE call ADD COLUMN forwarded INTEGER;
                    ALTER TABLE call ADD COLUMN answered_by TEXT;
                    ALTER TABLE call ADD COLUMN session_until INTEGER;
                    ALTER TABLE call ADD COLUMN attempt_call_id TEXT;
                    ALTER TABLE call ADD COLUMN attempt_sip_call_id TEXT;
                    """)
        }
        migrator.registerMigration("ledger outputs") { database in
            try database.execute(
                sql: """
                    CREATE TABLE call_output (
                        id INTEGER PRIMARY KEY,
                        call INTEGER NOT NULL,
                        sink INTEGER NOT NULL,
                        attempts INTEGER NOT NULL DEFAULT 0,
                        due_at INTEGER NOT NULL DEFAULT 0
                    );
                    CREATE INDEX call_output_due ON call_output (sink, due_at);
                    """)
        }
        migrator.registerMigration("ledger outputs by call") { database in
            // Retention looks for pending outputs of each old call.
            try database.execute(sql: "CREATE INDEX call_output_call ON call_output (call)")
        }
        // Both cost 3,500 instructions a row. Dropping a computed column writes no row.
        migrator.registerMigration("ledger events without computed columns") { database in
            try database.execute(
                sql: """
                    ALTER TABLE event DROP COLUMN call_id;
                    ALTER TABLE event DROP COLUMN outcome;
                    """)
        }
        migrator.registerMigration("ledger clocks") { database in
            try database.execute(
                sql: """
                    CREATE TABLE clock (id INTEGER PRIMARY KEY, set_by INTEGER NOT NULL, at INTEGER NOT NULL);
                    ALTER TABLE call ADD COLUMN end_clock INTEGER;
                    """)
        }
        migrator.registerMigration("ledger callers as received") { database in
            try database.execute(sql: "ALTER TABLE call ADD COLUMN caller_received TEXT")
        }
        migrator.registerMigration("ledger evidence of decisions") { database in
            try database.execute(sql: "ALTER TABLE call ADD COLUMN evidence INTEGER")
        }
        // Empty without a shared ledger; `LedgerChanges` makes the triggers.
        migrator.registerMigration("ledger changes for other gateways") { database in
            try database.execute(
                sql: """
                    CREATE TABLE shared_change (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        kind INTEGER NOT NULL,
                        row INTEGER NOT NULL,
                        UNIQUE (kind, row)
                    );
                    CREATE TABLE shared_origin (id INTEGER PRIMARY KEY CHECK (id = 1), ledger INTEGER NOT NULL);
                    """)
        }
        // The outbox of each customer is read on its own. Only waiting events are in the index.
        migrator.registerMigration("ledger customers") { database in
            try database.execute(
                sql: """
                    ALTER TABLE call ADD COLUMN customer TEXT;
                    ALTER TABLE event ADD COLUMN customer TEXT;
                    DROP INDEX event_due;
                    CREATE INDEX event_due ON event (customer, due_at) WHERE state = 0;
                    """)
        }
        // Calls of other gateways: each is taken over once.
        migrator.registerMigration("ledger adopted calls") { database in
            try database.execute(
                sql: """
                    CREATE TABLE adopted_call (call_id TEXT PRIMARY KEY, call INTEGER NOT NULL, gateway TEXT NOT NULL)
                    WITHOUT ROWID
                    """)
        }
        // Numbers are never used twice, though rows are deleted once the shared ledger has them.
        migrator.registerMigration("ledger signals for other gateways") { database in
            try database.execute(
                sql: """
                    CREATE TABLE call_signal (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        at INTEGER NOT NULL,
                        call_id TEXT NOT NULL,
                        other_call_id TEXT,
                        bytes BLOB NOT NULL
                    );
                    CREATE TABLE signal_cursor (
                        node INTEGER NOT NULL, ledger INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (node, ledger)
                    ) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("ledger returns over gateways") { database in
            try database.execute(
                sql: """
                    CREATE TABLE return_candidate (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        at INTEGER NOT NULL,
                        direction INTEGER NOT NULL,
                        call INTEGER NOT NULL,
                        number INTEGER NOT NULL,
                        call_id TEXT NOT NULL,
                        subscriber_key TEXT NOT NULL,
                        brand_id TEXT
                    );
                    """)
        }
        // A call that failed here goes on at another gateway, or was tried there before.
        migrator.registerMigration("ledger redials over gateways") { database in
            try database.execute(
                sql: """
                    ALTER TABLE call ADD COLUMN attempt_at INTEGER;
                    ALTER TABLE call ADD COLUMN continued_as TEXT;
                    ALTER TABLE call ADD COLUMN earlier_attempts TEXT;
                    """)
        }
        // Recognises an older copy of the file; see `LedgerChanges`.
        migrator.registerMigration("ledger copies of the file") { database in
            try database.execute(
                sql: """
                    ALTER TABLE shared_origin ADD COLUMN opening INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE shared_origin ADD COLUMN opened INTEGER;
                    """)
        }
        // A call that rings several numbers at once can be returned by each; the first one's key is in `call`.
        migrator.registerMigration("ledger called parties") { database in
            try database.execute(
                sql: """
                    ALTER TABLE call ADD COLUMN also_called TEXT;
                    CREATE TABLE return_key (
                        caller INTEGER NOT NULL, subscriber_key TEXT NOT NULL, call INTEGER NOT NULL,
                        PRIMARY KEY (caller, subscriber_key, call)
                    ) WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    /// Tables of `brands.sqlite`: the directory's records, the state of the sync, and the copies of logos.
    ///
    /// `sync_state` has exactly one row. `gates` is the JSON of `BrandingGates`, NULL before the first response of the
    /// directory. The validators are the JSON of `SyncValidator`. `logo` has a row for each URL of the brands,
    /// `logo_file` for each file of a picture; `hash` is the picture's SHA-256 and joins them. `records` is the count
    /// of `brand`. `brand_change` and `changes_since` belong to `BrandChangeLog`. `provisional` has the numbers whose
    /// record came from a lookup and from no sync since.
    static var brands: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("brands 1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE brand (
                        number INTEGER PRIMARY KEY,
                        name TEXT NOT NULL,
                        brand_id TEXT NOT NULL,
                        logo_url TEXT,
                        call_reason TEXT,
                        updated_at TEXT NOT NULL
                    );

                    CREATE TABLE sync_state (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        cursor TEXT,
                        last_full_sync INTEGER,
                        last_sync INTEGER,
                        gates TEXT,
                        generation INTEGER NOT NULL DEFAULT 0
                    );
                    INSERT INTO sync_state (id) VALUES (1);
                    """)
        }
        migrator.registerMigration("brands 2") { database in
            try database.execute(
                sql: """
                    ALTER TABLE sync_state ADD COLUMN full_validator TEXT;
                    ALTER TABLE sync_state ADD COLUMN cursor_validator TEXT;
                    """)
        }
        migrator.registerMigration("brands 3") { database in
            try database.execute(
                sql: """
                    CREATE TABLE logo (
                        url TEXT PRIMARY KEY,
                        hash TEXT,
                        etag TEXT,
                        last_modified TEXT,
                        fetched_at INTEGER,
                        checked_at INTEGER,
                        due_at INTEGER NOT NULL,
                        failures INTEGER NOT NULL DEFAULT 0,
                        status TEXT NOT NULL DEFAULT 'new',
                        reason TEXT,
                        error TEXT
                    );
                    CREATE INDEX logo_due ON logo (due_at);
                    CREATE INDEX logo_hash ON logo (hash);

                    CREATE TABLE logo_file (
                        name TEXT PRIMARY KEY,
                        hash TEXT NOT NULL,
                        form TEXT NOT NULL,
                        bytes INTEGER NOT NULL,
                        used_at INTEGER NOT NULL,
                        unneeded_at INTEGER
                    );
                    CREATE INDEX logo_file_hash ON logo_file (hash);
                    """)
        }
        migrator.registerMigration("brands 4") { database in
            try database.execute(
                sql: """
                    CREATE TABLE brand_change (
                        generation INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (generation, number)
                    ) WITHOUT ROWID;
                    ALTER TABLE sync_state ADD COLUMN changes_since INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE sync_state ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
                    UPDATE sync_state SET changes_since = generation, records = (SELECT COUNT(*) FROM brand);
                    """)
        }
        migrator.registerMigration("brands 5") { database in
            try database.execute(sql: "ALTER TABLE sync_state ADD COLUMN tombstones INTEGER")
        }
        migrator.registerMigration("brands 6") { database in
            try database.execute(sql: "CREATE TABLE provisional (number INTEGER PRIMARY KEY)")
        }
        return migrator
    }
}
