// SPDX-License-Identifier: Apache-2.0

/// The tables of the contract beside accounts, brands, events and devices.
enum ContractSchema {
    static let statements = """
        CREATE TABLE sync_state (
            account INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE, digest BLOB NOT NULL,
            modified INTEGER NOT NULL);

        CREATE TABLE sync_delivery (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, day TEXT NOT NULL,
            delivered INTEGER NOT NULL, entries INTEGER NOT NULL, unchanged INTEGER NOT NULL,
            PRIMARY KEY (account, day)) WITHOUT ROWID;

        ALTER TABLE event ADD COLUMN branding_request_id TEXT;

        CREATE TABLE imprint (
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, device_id TEXT NOT NULL,
            number TEXT NOT NULL, displayed_at TEXT NOT NULL, imprint_id TEXT NOT NULL UNIQUE, details TEXT NOT NULL,
            received INTEGER NOT NULL, PRIMARY KEY (account, device_id, number, displayed_at)) WITHOUT ROWID;

        CREATE TABLE debug_request (
            id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            device_id TEXT, expires INTEGER NOT NULL, allow_export INTEGER NOT NULL, created INTEGER NOT NULL);
        CREATE INDEX debug_request_account ON debug_request (account, expires);

        CREATE TABLE debug_upload (
            id TEXT PRIMARY KEY, request INTEGER NOT NULL, account INTEGER NOT NULL REFERENCES account (id)
            ON DELETE CASCADE, device_id TEXT NOT NULL, nonce TEXT NOT NULL, created_at TEXT, state TEXT, logs TEXT,
            logs_upload_id TEXT, received INTEGER NOT NULL, UNIQUE (account, nonce)) WITHOUT ROWID;

        CREATE TABLE upload (
            id TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            filename TEXT NOT NULL, content_type TEXT NOT NULL, size INTEGER NOT NULL, chunks INTEGER NOT NULL,
            expires INTEGER NOT NULL, completed INTEGER) WITHOUT ROWID;
        CREATE TABLE upload_chunk (
            upload TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE, number INTEGER NOT NULL,
            PRIMARY KEY (upload, number)) WITHOUT ROWID;

        CREATE TABLE device_token (
            id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            key_hash BLOB NOT NULL, device_id TEXT NOT NULL, access_hash BLOB NOT NULL UNIQUE,
            access_expires INTEGER NOT NULL, refresh_hash BLOB NOT NULL UNIQUE, refresh_expires INTEGER NOT NULL,
            rotated INTEGER);
        CREATE INDEX device_token_device ON device_token (account, device_id);

        CREATE TABLE key_signing (
            key_hash BLOB PRIMARY KEY, api_id TEXT NOT NULL UNIQUE, secret BLOB NOT NULL) WITHOUT ROWID;
        """
}
