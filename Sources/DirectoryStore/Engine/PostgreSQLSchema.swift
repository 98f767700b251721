// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// The tables on a PostgreSQL server, made and changed by the first program that finds them missing or old.
///
/// Migrations only add, so that programs of two versions run beside each other. No sequence gives an order to the feed,
/// and no foreign key leads to a table that every event changes.
enum PostgreSQLSchema {
    /// The schema of this program: the count of migrations.
    static var version: Int { migrations.count }

    /// The reason for which a database cannot be used.
    enum Problem: Error {
        /// A later program has changed it in a way that this one does not know.
        case newer
        /// The role may not create the tables.
        case notAllowed(PostgreSQLError)
    }

    /// Brings the tables to the version of this program.
    ///
    /// Several programs can start at once: the row of the version is their lock.
    ///
    /// - Throws: `Problem` or `PostgreSQLError`.
    static func migrate(_ session: PostgreSQLSession) throws {
        do {
            if try state(session).version >= version { return }
        } catch let error as PostgreSQLError where error.state == "42P01" {
            // No table yet.
        }
        do {
            try begin(session)
            try session.transaction { session in
                let row = try session.execute("SELECT value FROM meta WHERE name = 'schema' FOR UPDATE").first
                let present = Int(try row?.integer(0) ?? 0)
                guard present < version else { return }
                for place in present..<version { try session.script(migrations[place]) }
                try session.execute("UPDATE meta SET value = $1 WHERE name = 'schema'", [.integer(Int64(version))])
            }
        } catch let error as PostgreSQLError where error.cause == .forbidden {
            throw Problem.notAllowed(error)
        }
    }

    /// The version of the tables.
    ///
    /// - Throws: `Problem.newer` if this program is too old for them.
    static func state(_ session: PostgreSQLSession) throws -> (version: Int, oldest: Int) {
        var values: [String: Int] = [:]
        for row in try session.execute("SELECT name, value FROM meta WHERE name IN ('schema', 'oldest_schema')") {
            values[try row.text(0) ?? ""] = Int(try row.integer(1) ?? 0)
        }
        let oldest = values["oldest_schema"] ?? 0
        guard oldest <= version else { throw Problem.newer }
        return (values["schema"] ?? 0, oldest)
    }

    private static func begin(_ session: PostgreSQLSession) throws {
        let script = """
            CREATE TABLE IF NOT EXISTS meta (name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL);
            INSERT INTO meta VALUES ('schema', 0), ('oldest_schema', 1) ON CONFLICT DO NOTHING;
            """
        do {
            try session.script(script)
        } catch  where error.cause == .constraint {
            // Another program made the table at the same moment.
            try session.script(script)
        }
    }

    /// The first makes the present tables. The others bring those of an earlier program to them, and find them made in a
    /// new database.
    private static let migrations = [DirectorySchema.script(.postgreSQL) + own, calls, registrations, cards, push]

    // Brand and outcome of an event, and calls by their end.
    private static let calls = """
        ALTER TABLE event ADD COLUMN IF NOT EXISTS brand_id text COLLATE "C";
        ALTER TABLE event ADD COLUMN IF NOT EXISTS call_outcome text COLLATE "C";
        CREATE TABLE IF NOT EXISTS day_call (
            account bigint NOT NULL, day text COLLATE "C" NOT NULL, brand_id text COLLATE "C" NOT NULL,
            result text COLLATE "C" NOT NULL, shard bigint NOT NULL, calls bigint NOT NULL,
            PRIMARY KEY (account, day, brand_id, result, shard)) WITH (fillfactor = 70);
        """

    // Registrations of the CAMARA interface, the numbers that they have or had, and the tokens of its clients.
    private static let registrations = """
        CREATE TABLE IF NOT EXISTS client_token (
            hash bytea PRIMARY KEY, account bigint NOT NULL, key_hash bytea NOT NULL,
            scopes text COLLATE "C" NOT NULL, expires bigint NOT NULL);
        CREATE INDEX IF NOT EXISTS client_token_key ON client_token (key_hash, expires);
        CREATE TABLE IF NOT EXISTS registration (
            id text COLLATE "C" PRIMARY KEY, account bigint NOT NULL, number bigint NOT NULL, alternate bigint,
            brand_id text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, country bigint NOT NULL,
            expires text COLLATE "C", asset text COLLATE "C", customer text COLLATE "C", action text COLLATE "C",
            campaign text COLLATE "C", purpose text COLLATE "C", created bigint NOT NULL);
        CREATE INDEX IF NOT EXISTS registration_account ON registration (account, created, id);
        CREATE INDEX IF NOT EXISTS registration_expires ON registration (expires) WHERE expires IS NOT NULL;
        CREATE TABLE IF NOT EXISTS registered_number (
            account bigint NOT NULL, number bigint NOT NULL, registration text COLLATE "C", released bigint,
            PRIMARY KEY (account, number));
        """

    // The switch of public cards.
    private static let cards = "ALTER TABLE account ADD COLUMN IF NOT EXISTS card boolean NOT NULL DEFAULT false;"

    // Devices for push messages, the numbers that they are for, and the messages with their deliveries.
    private static let push = """
        CREATE TABLE IF NOT EXISTS push_device (
            account bigint NOT NULL, device_id text COLLATE "C" NOT NULL, platform text COLLATE "C" NOT NULL,
            address text COLLATE "C" NOT NULL, address_hash bytea NOT NULL, app_version text COLLATE "C",
            key_hash bytea, secret_hash bytea, missed_call boolean NOT NULL, call_returned boolean NOT NULL,
            brand_changed boolean NOT NULL, disclosure text COLLATE "C", created bigint NOT NULL,
            PRIMARY KEY (account, device_id));
        CREATE UNIQUE INDEX IF NOT EXISTS push_device_address ON push_device (account, address_hash);
        CREATE UNIQUE INDEX IF NOT EXISTS push_device_secret ON push_device (secret_hash) WHERE secret_hash IS NOT NULL;
        CREATE TABLE IF NOT EXISTS push_number (
            account bigint NOT NULL, number bigint NOT NULL, device_id text COLLATE "C" NOT NULL, confirmed bigint,
            confirmed_by text COLLATE "C",
            FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE,
            PRIMARY KEY (account, number, device_id));
        CREATE INDEX IF NOT EXISTS push_number_device
            ON push_number (account, device_id, number, confirmed, confirmed_by);
        CREATE TABLE IF NOT EXISTS push_invitation (
            hash bytea PRIMARY KEY, account bigint NOT NULL, number bigint NOT NULL, expires bigint NOT NULL);
        CREATE INDEX IF NOT EXISTS push_invitation_expires ON push_invitation (expires);
        CREATE TABLE IF NOT EXISTS push_message (
            id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1) PRIMARY KEY, account bigint NOT NULL,
            topic text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, number bigint, brand_number bigint,
            brand_id text COLLATE "C" NOT NULL, sent_at bigint NOT NULL, expires bigint NOT NULL,
            open boolean NOT NULL, last_device text COLLATE "C" NOT NULL DEFAULT '', withdrawn bigint,
            UNIQUE (account, topic, key));
        CREATE INDEX IF NOT EXISTS push_message_open ON push_message (id) WHERE open;
        CREATE INDEX IF NOT EXISTS push_message_brand ON push_message (account, brand_id, sent_at);
        CREATE INDEX IF NOT EXISTS push_message_sent ON push_message (sent_at);
        CREATE TABLE IF NOT EXISTS push_delivery (
            message bigint NOT NULL, account bigint NOT NULL, device_id text COLLATE "C" NOT NULL,
            state text COLLATE "C" NOT NULL, due bigint, attempts bigint NOT NULL DEFAULT 0,
            holder text COLLATE "C", called text COLLATE "C",
            FOREIGN KEY (message) REFERENCES push_message (id) ON DELETE CASCADE,
            FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE,
            PRIMARY KEY (message, device_id));
        CREATE INDEX IF NOT EXISTS push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL;
        CREATE INDEX IF NOT EXISTS push_delivery_device ON push_delivery (account, device_id);
        """

    // The bytes of logos and uploads, and the work that one node does for all.
    private static let own = """
        CREATE TABLE blob (
            hash text COLLATE "C" NOT NULL, part bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (hash, part));
        ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL;
        CREATE TABLE lease (
            name text COLLATE "C" PRIMARY KEY, holder text COLLATE "C" NOT NULL, until timestamptz NOT NULL);
        """
}
