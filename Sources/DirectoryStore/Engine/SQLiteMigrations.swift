// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables of the SQLite file: a new file gets them at once, and one of version 0.2.0 or later step by step.
///
/// A released step keeps its name.
enum SQLiteMigrations {
    /// A file of a version before 0.2.0, whose tables this program does not know.
    struct BeforeFirstVersion: Error {}

    /// The steps to the present tables; those of version 0.2.0 are names alone.
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        for name in released { migrator.registerMigration(name) { _ in throw BeforeFirstVersion() } }
        migrator.registerMigration("engines 6") { try $0.execute(sql: shards) }
        migrator.registerMigration("calls 7") { try $0.execute(sql: calls) }
        migrator.registerMigration("registrations 8") { try $0.execute(sql: registrations) }
        migrator.registerMigration("cards 9") { try $0.execute(sql: cards) }
        migrator.registerMigration("push 10") { try $0.execute(sql: push) }
        return migrator
    }()

    /// The steps that every file of version 0.2.0 has.
    static let released = [
        "v1", "contract 2", "operator 2", "operator 3", "operator 4", "operation 1", "operation 2", "operation 3",
        "operation 4", "phones 5",
    ]

    /// Makes the tables of a new file, or brings those of an earlier version to the present.
    ///
    /// - Throws: `BeforeFirstVersion` or a database error.
    static func migrate(_ file: DatabasePool) throws {
        try file.write { database in
            guard try migrator.appliedIdentifiers(database).isEmpty else { return }
            try database.execute(
                sql: DirectorySchema.script(.sqlite)
                    + "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            for name in migrator.migrations {
                try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
            }
        }
        try migrator.migrate(file)
    }

    // Brand and outcome of an event, and calls by their end; both begin with the next event.
    private static let calls = """
        ALTER TABLE event ADD COLUMN brand_id TEXT;
        ALTER TABLE event ADD COLUMN call_outcome TEXT;
        CREATE TABLE day_call (
            account INTEGER NOT NULL REFERENCES account (id), day TEXT NOT NULL, brand_id TEXT NOT NULL,
            result TEXT NOT NULL, shard INTEGER NOT NULL, calls INTEGER NOT NULL,
            PRIMARY KEY (account, day, brand_id, result, shard)) WITHOUT ROWID;
        """

    // Registrations of the CAMARA interface, the numbers that they have or had, and the tokens of its clients.
    private static let registrations = """
        CREATE TABLE client_token (
            hash BLOB PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            key_hash BLOB NOT NULL, scopes TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX client_token_key ON client_token (key_hash, expires);
        CREATE TABLE registration (
            id TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            number INTEGER NOT NULL, alternate INTEGER, brand_id TEXT NOT NULL, name TEXT NOT NULL,
            country INTEGER NOT NULL, expires TEXT, asset TEXT, customer TEXT, action TEXT, campaign TEXT, purpose TEXT,
            created INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX registration_account ON registration (account, created, id);
        CREATE INDEX registration_expires ON registration (expires) WHERE expires IS NOT NULL;
        CREATE TABLE registered_number (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, number INTEGER NOT NULL,
            registration TEXT, released INTEGER, PRIMARY KEY (account, number)) WITHOUT ROWID;
        """

    // The switch of public cards.
    private static let cards = "ALTER TABLE account ADD COLUMN card INTEGER NOT NULL DEFAULT 0"

    // Devices for push messages, the numbers that they are for, and the messages with their deliveries.
    private static let push = """
        CREATE TABLE push_device (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, device_id TEXT NOT NULL,
            platform TEXT NOT NULL, address TEXT NOT NULL, address_hash BLOB NOT NULL, app_version TEXT, key_hash BLOB,
            secret_hash BLOB, missed_call INTEGER NOT NULL, call_returned INTEGER NOT NULL,
            brand_changed INTEGER NOT NULL, disclosure TEXT, created INTEGER NOT NULL,
            PRIMARY KEY (account, device_id)) WITHOUT ROWID;
        CREATE UNIQUE INDEX push_device_address ON push_device (account, address_hash);
        CREATE UNIQUE INDEX push_device_secret ON push_device (secret_hash) WHERE secret_hash IS NOT NULL;
        CREATE TABLE push_number (
            account INTEGER NOT NULL, number INTEGER NOT NULL, device_id TEXT NOT NULL, confirmed INTEGER,
            confirmed_by TEXT,
            FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE,
            PRIMARY KEY (account, number, device_id)) WITHOUT ROWID;
        CREATE INDEX push_number_device ON push_number (account, device_id, number, confirmed, confirmed_by);
        CREATE TABLE push_invitation (
            hash BLOB PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            number INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX push_invitation_expires ON push_invitation (expires);
        CREATE TABLE push_message (
            id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            topic TEXT NOT NULL, key TEXT NOT NULL, number INTEGER, brand_number INTEGER, brand_id TEXT NOT NULL,
            sent_at INTEGER NOT NULL, expires INTEGER NOT NULL, open INTEGER NOT NULL,
            last_device TEXT NOT NULL DEFAULT '', withdrawn INTEGER, UNIQUE (account, topic, key));
        CREATE INDEX push_message_open ON push_message (id) WHERE open;
        CREATE INDEX push_message_brand ON push_message (account, brand_id, sent_at);
        CREATE INDEX push_message_sent ON push_message (sent_at);
        CREATE TABLE push_delivery (
            message INTEGER NOT NULL, account INTEGER NOT NULL, device_id TEXT NOT NULL, state TEXT NOT NULL,
            due INTEGER, attempts INTEGER NOT NULL DEFAULT 0, holder TEXT, called TEXT,
            FOREIGN KEY (message) REFERENCES push_message (id) ON DELETE CASCADE,
            FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE,
            PRIMARY KEY (message, device_id)) WITHOUT ROWID;
        CREATE INDEX push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL;
        CREATE INDEX push_delivery_device ON push_delivery (account, device_id);
        """

    // The heads of the feeds, and counters by shard. SQLite cannot change a primary key, so the counters are copied.
    private static let shards = """
        CREATE TABLE feed_head (
            account INTEGER PRIMARY KEY REFERENCES account (id), epoch INTEGER NOT NULL, last_change INTEGER NOT NULL);
        INSERT INTO feed_head SELECT id, 0, last_change FROM account;
        ALTER TABLE account DROP COLUMN last_change;

        CREATE TABLE month_usage_by_shard (
            account INTEGER NOT NULL REFERENCES account (id), month TEXT NOT NULL, shard INTEGER NOT NULL,
            counted INTEGER NOT NULL, PRIMARY KEY (account, month, shard)) WITHOUT ROWID;
        INSERT INTO month_usage_by_shard SELECT account, month, 0, counted FROM month_usage;
        DROP TABLE month_usage;
        ALTER TABLE month_usage_by_shard RENAME TO month_usage;

        CREATE TABLE day_outcome_by_shard (
            account INTEGER NOT NULL REFERENCES account (id), day TEXT NOT NULL, brand_id TEXT NOT NULL,
            outcome TEXT NOT NULL, reason TEXT NOT NULL, shard INTEGER NOT NULL, events INTEGER NOT NULL,
            PRIMARY KEY (account, day, brand_id, outcome, reason, shard)) WITHOUT ROWID;
        INSERT INTO day_outcome_by_shard SELECT account, day, brand_id, outcome, reason, 0, events FROM day_outcome;
        DROP TABLE day_outcome;
        ALTER TABLE day_outcome_by_shard RENAME TO day_outcome;

        CREATE TABLE day_stored_by_shard (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT NOT NULL,
            shard INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (account, day, shard)) WITHOUT ROWID;
        INSERT INTO day_stored_by_shard SELECT account, day, 0, bytes FROM day_stored;
        DROP TABLE day_stored;
        ALTER TABLE day_stored_by_shard RENAME TO day_stored;
        """
}
