// SPDX-License-Identifier: Apache-2.0

/// Databases as earlier programs made them.
enum EarlierDirectories {
    /// `directory.sqlite` of version 0.2.0.
    static let version020 = """
        CREATE TABLE account (id INTEGER PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL,
            branding_enabled INTEGER NOT NULL, voip_dialer_enabled INTEGER NOT NULL, status TEXT NOT NULL,
            cap_this_month INTEGER, included_imprints INTEGER NOT NULL, last_change INTEGER NOT NULL, name TEXT
            NOT NULL DEFAULT '', created INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE api_key (hash BLOB PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id), name
            TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER, last_used INTEGER, expires INTEGER,
            successor BLOB, kind TEXT NOT NULL DEFAULT 'gateway') WITHOUT ROWID;
        CREATE TABLE brand_number (account INTEGER NOT NULL REFERENCES account (id), number INTEGER NOT NULL,
            name TEXT NOT NULL, brand_id TEXT NOT NULL, logo_url TEXT, call_reason TEXT, updated INTEGER NOT
            NULL, active INTEGER NOT NULL, change INTEGER NOT NULL, held INTEGER NOT NULL DEFAULT 0, PRIMARY
            KEY (account, number)) WITHOUT ROWID;
        CREATE UNIQUE INDEX brand_number_change ON brand_number (account, change);
        CREATE TABLE event (id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id), event_id
            TEXT NOT NULL UNIQUE, event_key TEXT, number TEXT NOT NULL, outcome TEXT NOT NULL, surface TEXT,
            device_id TEXT, displayed_at TEXT NOT NULL, meta TEXT, counted INTEGER NOT NULL, reason TEXT,
            received INTEGER NOT NULL, branding_request_id TEXT, warning TEXT, UNIQUE (account, event_key));
        CREATE TABLE month_usage (account INTEGER NOT NULL REFERENCES account (id), month TEXT NOT NULL,
            counted INTEGER NOT NULL, PRIMARY KEY (account, month)) WITHOUT ROWID;
        CREATE TABLE device (account INTEGER NOT NULL REFERENCES account (id), device_id TEXT NOT NULL,
            platform TEXT NOT NULL, os_version TEXT, app_version TEXT, sdk_version TEXT, registered INTEGER NOT
            NULL, last_seen INTEGER NOT NULL, last_synced_at TEXT, device_type TEXT, customer_name TEXT,
            customer_account_number TEXT, capabilities TEXT, log_lines INTEGER NOT NULL DEFAULT 0, PRIMARY KEY
            (account, device_id)) WITHOUT ROWID;
        CREATE TABLE sync_state (account INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE, digest
            BLOB NOT NULL, modified INTEGER NOT NULL);
        CREATE TABLE sync_delivery (account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day
            TEXT NOT NULL, delivered INTEGER NOT NULL, entries INTEGER NOT NULL, unchanged INTEGER NOT NULL,
            PRIMARY KEY (account, day)) WITHOUT ROWID;
        CREATE TABLE imprint (account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, device_id
            TEXT NOT NULL, number TEXT NOT NULL, displayed_at TEXT NOT NULL, imprint_id TEXT NOT NULL UNIQUE,
            details TEXT NOT NULL, received INTEGER NOT NULL, PRIMARY KEY (account, device_id, number,
            displayed_at)) WITHOUT ROWID;
        CREATE TABLE debug_request (id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON
            DELETE CASCADE, device_id TEXT, expires INTEGER NOT NULL, allow_export INTEGER NOT NULL, created
            INTEGER NOT NULL);
        CREATE INDEX debug_request_account ON debug_request (account, expires);
        CREATE TABLE debug_upload (id TEXT PRIMARY KEY, request INTEGER NOT NULL, account INTEGER NOT NULL
            REFERENCES account (id) ON DELETE CASCADE, device_id TEXT NOT NULL, nonce TEXT NOT NULL, created_at
            TEXT, state TEXT, logs TEXT, logs_upload_id TEXT, received INTEGER NOT NULL, UNIQUE (account,
            nonce)) WITHOUT ROWID;
        CREATE TABLE upload (id TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE
            CASCADE, filename TEXT NOT NULL, content_type TEXT NOT NULL, size INTEGER NOT NULL, chunks INTEGER
            NOT NULL, expires INTEGER NOT NULL, completed INTEGER) WITHOUT ROWID;
        CREATE TABLE upload_chunk (upload TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE, number
            INTEGER NOT NULL, PRIMARY KEY (upload, number)) WITHOUT ROWID;
        CREATE TABLE device_token (id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON
            DELETE CASCADE, key_hash BLOB NOT NULL, device_id TEXT NOT NULL, access_hash BLOB NOT NULL UNIQUE,
            access_expires INTEGER NOT NULL, refresh_hash BLOB NOT NULL UNIQUE, refresh_expires INTEGER NOT
            NULL, rotated INTEGER);
        CREATE INDEX device_token_device ON device_token (account, device_id);
        CREATE UNIQUE INDEX account_name ON account (name);
        CREATE UNIQUE INDEX api_key_name ON api_key (account, name) WHERE revoked IS NULL AND expires IS NULL;
        CREATE TABLE admin_key (hash BLOB PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL, last_used
            INTEGER, revoked INTEGER) WITHOUT ROWID;
        CREATE UNIQUE INDEX admin_key_name ON admin_key (name) WHERE revoked IS NULL;
        CREATE TABLE brand (account INTEGER NOT NULL REFERENCES account (id), id TEXT NOT NULL, name TEXT NOT
            NULL, logo TEXT, reason TEXT, owner TEXT NOT NULL DEFAULT 'active', updated INTEGER NOT NULL,
            PRIMARY KEY (account, id)) WITHOUT ROWID;
        CREATE INDEX brand_number_brand ON brand_number (account, brand_id);
        CREATE TABLE logo (name TEXT PRIMARY KEY, hash TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT
            NULL, created INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX event_received ON event (account, received);
        CREATE INDEX event_number ON event (account, number);
        CREATE TABLE day_outcome (account INTEGER NOT NULL REFERENCES account (id), day TEXT NOT NULL, brand_id
            TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, events INTEGER NOT NULL, PRIMARY KEY
            (account, day, brand_id, outcome, reason)) WITHOUT ROWID;
        CREATE TABLE key_signing (key_hash BLOB PRIMARY KEY, api_id TEXT NOT NULL, secret BLOB NOT NULL)
            WITHOUT ROWID;
        CREATE INDEX debug_upload_request ON debug_upload (request, device_id);
        CREATE INDEX imprint_received ON imprint (received);
        CREATE INDEX debug_upload_received ON debug_upload (received);
        CREATE INDEX debug_upload_logs ON debug_upload (logs_upload_id) WHERE logs_upload_id IS NOT NULL;
        CREATE INDEX upload_expires ON upload (expires);
        CREATE TABLE served_logo (name TEXT PRIMARY KEY, stamp TEXT, hash TEXT, first TEXT NOT NULL) WITHOUT
            ROWID;
        CREATE TABLE served_from (id INTEGER PRIMARY KEY CHECK (id = 1), signature TEXT NOT NULL, folder TEXT);
        CREATE TABLE day_signal (account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT
            NOT NULL, signal TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (account, day, signal)) WITHOUT
            ROWID;
        CREATE TABLE day_stored (account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT
            NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (account, day)) WITHOUT ROWID;
        CREATE TABLE device_log (account INTEGER NOT NULL, device_id TEXT NOT NULL, slot INTEGER NOT NULL,
            number INTEGER NOT NULL, level TEXT NOT NULL, message TEXT NOT NULL, meta TEXT, occurred_at TEXT,
            received INTEGER NOT NULL, PRIMARY KEY (account, device_id, slot), FOREIGN KEY (account, device_id)
            REFERENCES device (account, device_id) ON DELETE CASCADE) WITHOUT ROWID;
        CREATE INDEX device_log_received ON device_log (received);
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES
            ('v1'),
            ('contract 2'),
            ('operator 2'),
            ('operator 3'),
            ('operator 4'),
            ('operation 1'),
            ('operation 2'),
            ('operation 3'),
            ('operation 4'),
            ('phones 5');
        INSERT INTO account VALUES (1, 'client-1', 'live', 1, 1, 'active', 100, 50, 3, 'main', 0);
        INSERT INTO account VALUES (2, 'client-2', 'testing', 0, 1, 'suspended', NULL, 0, 0, 'second', 7);
        INSERT INTO api_key (hash, account, name, created) VALUES (x'0102', 1, 'gateway', 5);
        INSERT INTO key_signing VALUES (x'0102', 'id-1', x'0304');
        INSERT INTO brand VALUES (1, 'acme', 'Acme', NULL, 'Order', 'active', 9);
        INSERT INTO brand_number VALUES (1, 61491570156, 'Acme', 'acme', NULL, 'Order', 9, 1, 3, 0);
        INSERT INTO brand_number VALUES (1, 61491570157, 'Acme', 'acme', NULL, NULL, 8, 0, 2, 1);
        INSERT INTO event (account, event_id, event_key, number, outcome, displayed_at, counted, received)
            VALUES (1, 'event-1', 'displayed:1', '+61491570156', 'displayed', '2026-01-01T00:00:00Z', 1, 1767225600);
        INSERT INTO month_usage VALUES (1, '2026-01', 1);
        INSERT INTO day_outcome VALUES (1, '2026-01-01', 'acme', 'displayed', '', 1);
        INSERT INTO day_stored VALUES (1, '2026-01-01', 300);
        INSERT INTO device (account, device_id, platform, registered, last_seen) VALUES (1, 'phone', 'ios', 1, 2);
        INSERT INTO device_log VALUES (1, 'phone', 0, 1, 'info', 'Hello', NULL, NULL, 3);
        """

    /// The tables of a PostgreSQL server as its first program made them, without the locale of texts.
    static let postgreSQL = """
        CREATE TABLE account (
            id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 2) PRIMARY KEY, client_id TEXT NOT NULL UNIQUE,
            mode TEXT NOT NULL, branding_enabled boolean NOT NULL, voip_dialer_enabled boolean NOT NULL,
            status TEXT NOT NULL, cap_this_month bigint, included_imprints bigint NOT NULL,
            name TEXT NOT NULL DEFAULT '' UNIQUE, created bigint NOT NULL DEFAULT 0);
        INSERT INTO account (id, client_id, mode, branding_enabled, voip_dialer_enabled, status, included_imprints, name)
            VALUES (1, replace(gen_random_uuid()::text, '-', ''), 'live', true, true, 'active', 0, 'main');

        CREATE TABLE feed_head (account bigint PRIMARY KEY, epoch bigint NOT NULL, last_change bigint NOT NULL);
        INSERT INTO feed_head VALUES (1, 0, 0);

        CREATE TABLE api_key (
            hash bytea PRIMARY KEY, account bigint NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'gateway',
            created bigint NOT NULL, last_used bigint, expires bigint, successor bytea, revoked bigint);
        CREATE UNIQUE INDEX api_key_name ON api_key (account, name) WHERE revoked IS NULL AND expires IS NULL;

        CREATE TABLE admin_key (
            hash bytea PRIMARY KEY, name TEXT NOT NULL, created bigint NOT NULL, last_used bigint, revoked bigint);
        CREATE UNIQUE INDEX admin_key_name ON admin_key (name) WHERE revoked IS NULL;

        CREATE TABLE key_signing (key_hash bytea PRIMARY KEY, api_id TEXT NOT NULL, secret bytea NOT NULL);

        CREATE TABLE device_token (
            id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, account bigint NOT NULL, key_hash bytea NOT NULL,
            device_id TEXT NOT NULL, access_hash bytea NOT NULL UNIQUE, access_expires bigint NOT NULL,
            refresh_hash bytea NOT NULL UNIQUE, refresh_expires bigint NOT NULL, rotated bigint);
        CREATE INDEX device_token_device ON device_token (account, device_id);
        CREATE INDEX device_token_key ON device_token (key_hash);

        CREATE TABLE brand (
            account bigint NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, logo TEXT, reason TEXT,
            owner TEXT NOT NULL DEFAULT 'active', updated bigint NOT NULL, PRIMARY KEY (account, id));
        CREATE INDEX brand_logo ON brand (logo) WHERE logo IS NOT NULL;

        CREATE TABLE brand_number (
            account bigint NOT NULL, number bigint NOT NULL, name TEXT NOT NULL, brand_id TEXT NOT NULL, logo_url TEXT,
            call_reason TEXT, updated bigint NOT NULL, active boolean NOT NULL, held boolean NOT NULL DEFAULT false,
            change bigint NOT NULL, PRIMARY KEY (account, number));
        CREATE UNIQUE INDEX brand_number_change ON brand_number (account, change);
        CREATE INDEX brand_number_brand ON brand_number (account, brand_id);

        CREATE TABLE event (
            id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, account bigint NOT NULL,
            event_id TEXT NOT NULL UNIQUE, event_key TEXT, number TEXT NOT NULL, outcome TEXT NOT NULL, surface TEXT,
            device_id TEXT, displayed_at TEXT NOT NULL, meta TEXT, counted boolean NOT NULL, reason TEXT,
            received bigint NOT NULL, branding_request_id TEXT, warning TEXT, UNIQUE (account, event_key));
        CREATE INDEX event_received ON event (account, received);
        CREATE INDEX event_number ON event (account, number);

        CREATE TABLE month_usage (
            account bigint NOT NULL, month TEXT NOT NULL, shard bigint NOT NULL, counted bigint NOT NULL,
            PRIMARY KEY (account, month, shard)) WITH (fillfactor = 50);
        CREATE TABLE day_outcome (
            account bigint NOT NULL, day TEXT NOT NULL, brand_id TEXT NOT NULL, outcome TEXT NOT NULL,
            reason TEXT NOT NULL, shard bigint NOT NULL, events bigint NOT NULL,
            PRIMARY KEY (account, day, brand_id, outcome, reason, shard)) WITH (fillfactor = 70);
        CREATE TABLE day_stored (
            account bigint NOT NULL, day TEXT NOT NULL, shard bigint NOT NULL, bytes bigint NOT NULL,
            PRIMARY KEY (account, day, shard)) WITH (fillfactor = 50);
        CREATE TABLE day_signal (
            account bigint NOT NULL, day TEXT NOT NULL, signal TEXT NOT NULL, count bigint NOT NULL,
            PRIMARY KEY (account, day, signal)) WITH (fillfactor = 50);
        CREATE TABLE sync_delivery (
            account bigint NOT NULL, day TEXT NOT NULL, delivered bigint NOT NULL, entries bigint NOT NULL,
            unchanged bigint NOT NULL, PRIMARY KEY (account, day)) WITH (fillfactor = 50);
        CREATE TABLE sync_state (account bigint PRIMARY KEY, digest bytea NOT NULL, modified bigint NOT NULL);

        CREATE TABLE imprint (
            account bigint NOT NULL, device_id TEXT NOT NULL, number TEXT NOT NULL, displayed_at TEXT NOT NULL,
            imprint_id TEXT NOT NULL UNIQUE, details TEXT NOT NULL, received bigint NOT NULL,
            PRIMARY KEY (account, device_id, number, displayed_at));
        CREATE INDEX imprint_received ON imprint (received);

        CREATE TABLE device (
            account bigint NOT NULL, device_id TEXT NOT NULL, platform TEXT NOT NULL, os_version TEXT, app_version TEXT,
            sdk_version TEXT, registered bigint NOT NULL, last_seen bigint NOT NULL, last_synced_at TEXT,
            device_type TEXT, customer_name TEXT, customer_account_number TEXT, capabilities TEXT,
            log_lines bigint NOT NULL DEFAULT 0, PRIMARY KEY (account, device_id));
        CREATE TABLE device_log (
            account bigint NOT NULL, device_id TEXT NOT NULL, slot bigint NOT NULL, number bigint NOT NULL,
            level TEXT NOT NULL, message TEXT NOT NULL, meta TEXT, occurred_at TEXT, received bigint NOT NULL,
            PRIMARY KEY (account, device_id, slot),
            FOREIGN KEY (account, device_id) REFERENCES device (account, device_id) ON DELETE CASCADE);
        CREATE INDEX device_log_received ON device_log (received);

        CREATE TABLE debug_request (
            id bigint PRIMARY KEY, account bigint NOT NULL, device_id TEXT, expires bigint NOT NULL,
            allow_export boolean NOT NULL, created bigint NOT NULL);
        CREATE INDEX debug_request_account ON debug_request (account, expires);
        CREATE TABLE debug_upload (
            id TEXT PRIMARY KEY, request bigint NOT NULL, account bigint NOT NULL, device_id TEXT NOT NULL,
            nonce TEXT NOT NULL, created_at TEXT, state TEXT, logs TEXT, logs_upload_id TEXT, received bigint NOT NULL,
            UNIQUE (account, nonce));
        CREATE INDEX debug_upload_request ON debug_upload (request, device_id);
        CREATE INDEX debug_upload_received ON debug_upload (received);
        CREATE INDEX debug_upload_logs ON debug_upload (logs_upload_id) WHERE logs_upload_id IS NOT NULL;

        CREATE TABLE upload (
            id TEXT PRIMARY KEY, account bigint NOT NULL, filename TEXT NOT NULL, content_type TEXT NOT NULL,
            size bigint NOT NULL, chunks bigint NOT NULL, expires bigint NOT NULL, completed bigint);
        CREATE INDEX upload_expires ON upload (expires);
        CREATE TABLE upload_chunk (
            upload TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE, number bigint NOT NULL,
            PRIMARY KEY (upload, number));

        CREATE TABLE logo (
            name TEXT PRIMARY KEY, hash TEXT NOT NULL, type TEXT NOT NULL, size bigint NOT NULL,
            created bigint NOT NULL);
        CREATE TABLE served_logo (name TEXT PRIMARY KEY, stamp TEXT, hash TEXT, first TEXT NOT NULL);
        CREATE TABLE served_from (id bigint PRIMARY KEY CHECK (id = 1), signature TEXT NOT NULL, folder TEXT);

        CREATE TABLE blob (hash TEXT NOT NULL, part bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (hash, part));
        ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL;
        CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until timestamptz NOT NULL);
        """
}
