// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables and indexes for the operator.
enum OperatorSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("operator 2") { database in
            try database.execute(sql: accounts)
            try database.execute(sql: brands)
            try database.execute(sql: events)
        }
        migrator.registerMigration("operator 3") { try $0.execute(sql: rotationAndRequests) }
        migrator.registerMigration("operator 4") { try $0.execute(sql: ages) }
    }

    private static let accounts = """
        ALTER TABLE account ADD COLUMN name TEXT NOT NULL DEFAULT '';
        ALTER TABLE account ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
        UPDATE account SET name = 'main' WHERE id = 1;
        CREATE UNIQUE INDEX account_name ON account (name);

        ALTER TABLE api_key ADD COLUMN last_used INTEGER;
        ALTER TABLE api_key ADD COLUMN expires INTEGER;
        DROP INDEX api_key_name;
        CREATE UNIQUE INDEX api_key_name ON api_key (account, name) WHERE revoked IS NULL AND expires IS NULL;

        CREATE TABLE admin_key (
            hash BLOB PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL, last_used INTEGER, revoked INTEGER)
            WITHOUT ROWID;
        CREATE UNIQUE INDEX admin_key_name ON admin_key (name) WHERE revoked IS NULL;
        """

    // A rotated key and its successor share one secret.
    private static let rotationAndRequests = """
        CREATE TABLE signing (key_hash BLOB PRIMARY KEY, api_id TEXT NOT NULL, secret BLOB NOT NULL) WITHOUT ROWID;
        INSERT INTO signing SELECT key_hash, api_id, secret FROM key_signing;
        DROP TABLE key_signing;
        ALTER TABLE signing RENAME TO key_signing;

        ALTER TABLE api_key ADD COLUMN successor BLOB;

        CREATE INDEX debug_upload_request ON debug_upload (request, device_id);
        """

    // Indexes that find old rows without a full scan.
    private static let ages = """
        CREATE INDEX imprint_received ON imprint (received);
        CREATE INDEX debug_upload_received ON debug_upload (received);
        CREATE INDEX debug_upload_logs ON debug_upload (logs_upload_id) WHERE logs_upload_id IS NOT NULL;
        CREATE INDEX upload_expires ON upload (expires);
        """

    // `held` marks a number that is inactive because the owner of its brand is; `active` is the state for clients.
    private static let brands = """
        CREATE TABLE brand (
            account INTEGER NOT NULL REFERENCES account (id), id TEXT NOT NULL, name TEXT NOT NULL, logo TEXT,
            reason TEXT, owner TEXT NOT NULL DEFAULT 'active', updated INTEGER NOT NULL, PRIMARY KEY (account, id))
            WITHOUT ROWID;
        INSERT INTO brand (account, id, name, logo, reason, updated)
            SELECT account, brand_id, name, logo_url, call_reason, max(updated) FROM brand_number
            GROUP BY account, brand_id;
        ALTER TABLE brand_number ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX brand_number_brand ON brand_number (account, brand_id);

        CREATE TABLE logo (
            name TEXT PRIMARY KEY, hash TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL,
            created INTEGER NOT NULL) WITHOUT ROWID;
        """

    // The counters of a day outlive the events, and a monthly report reads no event. `reason` is empty for counted
    // events, `brand_id` for numbers without a brand.
    private static let events = """
        CREATE INDEX event_received ON event (account, received);
        CREATE INDEX event_number ON event (account, number);
        CREATE TABLE day_outcome (
            account INTEGER NOT NULL REFERENCES account (id), day TEXT NOT NULL, brand_id TEXT NOT NULL,
            outcome TEXT NOT NULL, reason TEXT NOT NULL, events INTEGER NOT NULL,
            PRIMARY KEY (account, day, brand_id, outcome, reason)) WITHOUT ROWID;
        INSERT INTO day_outcome
            SELECT event.account, date(received, 'unixepoch'), coalesce(brand_id, ''), outcome,
                iif(counted, '', coalesce(reason, 'unknown')), count(*)
            FROM event LEFT JOIN brand_number ON brand_number.account = event.account
                AND brand_number.number = CAST(substr(event.number, 2) AS INTEGER)
            GROUP BY 1, 2, 3, 4, 5;
        """
}
