// SPDX-License-Identifier: Apache-2.0

/// Files as version 0.2.0 made them.
enum Version020 {
    /// `herald.sqlite`, without rows.
    static let ledger = """
        CREATE TABLE call (id INTEGER PRIMARY KEY, call_id TEXT NOT NULL, sip_call_id TEXT NOT NULL, direction
            INTEGER NOT NULL, trunk TEXT, caller INTEGER, destination INTEGER, subscriber TEXT, subscriber_key
            TEXT, brand_id TEXT, brand_name TEXT, carrier_name TEXT, decision TEXT NOT NULL, invite_at INTEGER
            NOT NULL, progress_at INTEGER, ringing_at INTEGER, answered_at INTEGER, cancelled_at INTEGER,
            ended_at INTEGER, refused_at INTEGER, status INTEGER, q850 INTEGER, sip_cause INTEGER, attempts
            INTEGER NOT NULL DEFAULT 1, outcome TEXT, ring_seconds INTEGER, call_seconds INTEGER, shown_event
            INTEGER, end_event INTEGER, return_event INTEGER, returnable INTEGER NOT NULL DEFAULT 0,
            returned_at INTEGER, forwarded INTEGER, answered_by TEXT, session_until INTEGER, attempt_call_id
            TEXT, attempt_sip_call_id TEXT, end_clock INTEGER, caller_received TEXT);
        CREATE INDEX call_open ON call (id) WHERE ended_at IS NULL;
        CREATE INDEX call_returnable ON call (caller, subscriber_key, ended_at) WHERE returnable = 1;
        CREATE TABLE event (id INTEGER PRIMARY KEY, key TEXT NOT NULL, number TEXT NOT NULL, surface TEXT NOT
            NULL, displayed_at TEXT NOT NULL, meta TEXT NOT NULL, created_at INTEGER NOT NULL, state INTEGER
            NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL, event_id TEXT,
            counted INTEGER, reason TEXT, status INTEGER, settled_at INTEGER);
        CREATE INDEX event_due ON event (due_at) WHERE state = 0;
        CREATE INDEX event_refused ON event (id) WHERE state = 2;
        CREATE TABLE ring_position (ring_id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, updated_at INTEGER
            NOT NULL);
        CREATE TABLE call_output (id INTEGER PRIMARY KEY, call INTEGER NOT NULL, sink INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0);
        CREATE INDEX call_output_due ON call_output (sink, due_at);
        CREATE INDEX call_output_call ON call_output (call);
        CREATE TABLE clock (id INTEGER PRIMARY KEY, set_by INTEGER NOT NULL, at INTEGER NOT NULL);
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES
            ('ledger 1'),
            ('ledger answerers and attempts'),
            ('ledger outputs'),
            ('ledger outputs by call'),
            ('ledger events without computed columns'),
            ('ledger clocks'),
            ('ledger callers as received');
        """

    /// `brands.sqlite`, before the first sync.
    static let brands = """
        CREATE TABLE brand (number INTEGER PRIMARY KEY, name TEXT NOT NULL, brand_id TEXT NOT NULL, logo_url
            TEXT, call_reason TEXT, updated_at TEXT NOT NULL);
        CREATE TABLE sync_state (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT, last_full_sync INTEGER,
            last_sync INTEGER, gates TEXT, generation INTEGER NOT NULL DEFAULT 0, full_validator TEXT,
            cursor_validator TEXT, changes_since INTEGER NOT NULL DEFAULT 0, records INTEGER NOT NULL DEFAULT
            0, tombstones INTEGER);
        CREATE TABLE logo (url TEXT PRIMARY KEY, hash TEXT, etag TEXT, last_modified TEXT, fetched_at INTEGER,
            checked_at INTEGER, due_at INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, status TEXT NOT
            NULL DEFAULT 'new', reason TEXT, error TEXT);
        CREATE INDEX logo_due ON logo (due_at);
        CREATE INDEX logo_hash ON logo (hash);
        CREATE TABLE logo_file (name TEXT PRIMARY KEY, hash TEXT NOT NULL, form TEXT NOT NULL, bytes INTEGER
            NOT NULL, used_at INTEGER NOT NULL, unneeded_at INTEGER);
        CREATE INDEX logo_file_hash ON logo_file (hash);
        CREATE TABLE brand_change (generation INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY
            (generation, number)) WITHOUT ROWID;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES
            ('brands 1'),
            ('brands 2'),
            ('brands 3'),
            ('brands 4'),
            ('brands 5');
        INSERT INTO sync_state (id) VALUES (1);
        """
}
