// SPDX-License-Identifier: Apache-2.0

/// The tables that SQLite has in the form of PostgreSQL: the head of each feed, and counters by shard.
enum EngineSchema {
    // SQLite cannot change a primary key, so the counters are copied.
    static let statements = """
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
