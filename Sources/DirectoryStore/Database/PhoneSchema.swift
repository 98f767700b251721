// SPDX-License-Identifier: Apache-2.0

/// The columns and tables for phones.
///
/// Every statement adds columns or tables; none rewrites rows.
enum PhoneSchema {
    static let statements = """
        ALTER TABLE event ADD COLUMN warning TEXT;

        ALTER TABLE device ADD COLUMN device_type TEXT;
        ALTER TABLE device ADD COLUMN customer_name TEXT;
        ALTER TABLE device ADD COLUMN customer_account_number TEXT;
        ALTER TABLE device ADD COLUMN capabilities TEXT;
        ALTER TABLE device ADD COLUMN log_lines INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE device_log (
            account INTEGER NOT NULL, device_id TEXT NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL,
            level TEXT NOT NULL, message TEXT NOT NULL, meta TEXT, occurred_at TEXT, received INTEGER NOT NULL,
            PRIMARY KEY (account, device_id, slot),
            FOREIGN KEY (account, device_id) REFERENCES device (account, device_id) ON DELETE CASCADE) WITHOUT ROWID;
        CREATE INDEX device_log_received ON device_log (received);
        """
}
