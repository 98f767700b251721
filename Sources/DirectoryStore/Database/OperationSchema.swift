// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables for the server's own operation.
enum OperationSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("operation 1") { try $0.execute(sql: servedLogos) }
        migrator.registerMigration("operation 2") { try $0.execute(sql: signalCounts) }
        migrator.registerMigration("operation 3") { try $0.execute(sql: keyKinds) }
        migrator.registerMigration("operation 4") { try $0.execute(sql: storedBytes) }
    }

    private static let servedLogos = """
        CREATE TABLE served_logo (
            name TEXT PRIMARY KEY, stamp TEXT, hash TEXT, first TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE served_from (
            id INTEGER PRIMARY KEY CHECK (id = 1), signature TEXT NOT NULL, folder TEXT);
        """

    private static let signalCounts = """
        CREATE TABLE day_signal (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT NOT NULL, signal TEXT NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY (account, day, signal)) WITHOUT ROWID;
        """

    private static let keyKinds = "ALTER TABLE api_key ADD COLUMN kind TEXT NOT NULL DEFAULT 'gateway'"

    private static let storedBytes = """
        CREATE TABLE day_stored (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT NOT NULL,
            bytes INTEGER NOT NULL, PRIMARY KEY (account, day)) WITHOUT ROWID;
        """
}
