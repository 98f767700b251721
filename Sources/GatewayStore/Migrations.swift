// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables of a SQLite file: a new file gets them at once, and one of version 0.2.0 or later step by step.
///
/// A released step keeps its name.
struct Migrations: Sendable {
    /// The statements that make the tables of a new file.
    private let tables: String
    /// The steps to these tables; those of version 0.2.0 are names alone.
    private(set) var migrator = DatabaseMigrator()

    /// A file of a version before 0.2.0, whose tables this program does not know.
    struct BeforeFirstVersion: Error {}

    private init(tables: String) { self.tables = tables }

    /// Makes the tables of a new file, or brings those of an earlier version to the present.
    ///
    /// - Throws: `BeforeFirstVersion` or a database error.
    func migrate(_ writer: any DatabaseWriter) throws {
        // A file that can only be read is not new.
        if try writer.read(isNew) {
            try writer.write { database in
                guard try isNew(database) else { return }
                try database.execute(
                    sql: tables + "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);")
                for name in migrator.migrations {
                    try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
                }
            }
        }
        try migrator.migrate(writer)
    }

    private func isNew(_ database: Database) throws -> Bool { try migrator.appliedIdentifiers(database).isEmpty }

    /// Adds a step that every file of version 0.2.0 has.
    private mutating func addReleased(_ name: String) {
        migrator.registerMigration(name) { _ in throw BeforeFirstVersion() }
    }

    /// Adds a step from version 0.2.0 to the present tables, with the columns of calls that it adds.
    private mutating func add(_ name: String, _ statements: String = "") {
        add(name) { try $0.execute(sql: CallColumn.additions(in: name) + statements) }
    }

    /// Adds a step that reads what a file has.
    private mutating func add(_ name: String, _ step: @escaping @Sendable (Database) throws -> Void) {
        migrator.registerMigration(name, migrate: step)
    }
}

extension Migrations {
    /// Tables of `herald.sqlite`: calls, the event outbox, the position in the ring.
    static let ledger: Migrations = {
        var ledger = Migrations(tables: ledgerTables)
        ledger.addReleased("ledger 1")
        ledger.addReleased("ledger answerers and attempts")
        ledger.addReleased("ledger outputs")
        ledger.addReleased("ledger outputs by call")
        ledger.addReleased("ledger events without computed columns")
        ledger.addReleased("ledger clocks")
        ledger.addReleased("ledger callers as received")
        ledger.add("ledger evidence of decisions")
        ledger.add("ledger changes for other gateways", sharedChange + sharedOrigin)
        ledger.add(
            "ledger customers",
            """
            ALTER TABLE event ADD COLUMN customer TEXT;
            DROP INDEX event_due;
            \(eventDue)
            """)
        ledger.add("ledger adopted calls", adoptedCall)
        ledger.add("ledger signals for other gateways", callSignal)
        ledger.add("ledger returns over gateways", returnCandidate)
        ledger.add("ledger redials over gateways")
        ledger.add("ledger copies of the file", originOpenings)
        ledger.add("ledger called parties", returnKey)
        ledger.add("ledger signatures of calls", CallColumn.signatureTable)
        for step in CallColumn.all.compactMap(\.added?.file) where !ledger.migrator.migrations.contains(step) {
            ledger.add(step)
        }
        // It reads calls with all their columns.
        ledger.add("ledger counts by hour", HourTally.begin)
        ledger.add("ledger counts in shadow", ShadowTally.table)
        ledger.add("ledger calls by doors", DoorCalls.table)
        return ledger
    }()

    /// The tables of a new file; times of calls are microseconds since 1970, all others seconds since 1970.
    ///
    /// Every row goes to the end of its table, and every index of a busy table covers only rows with pending work. So a
    /// call costs the same in a file of ten rows and of ten million. A lookup of an old call by its id reads the table
    /// backwards, which only the operator needs. `shown_event`, `end_event` and `return_event` of a call are ids of its
    /// events. `call_id` and `outcome` of an event are in its key, because every byte of a row is written twice.
    private static let ledgerTables =
        """
        \(CallColumn.table)
        CREATE INDEX call_open ON call (id) WHERE ended_at IS NULL;
        CREATE INDEX call_returnable ON call (caller, subscriber_key, ended_at) WHERE returnable = 1;

        CREATE TABLE event (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL,
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
            settled_at INTEGER,
            customer TEXT
        );
        CREATE INDEX event_refused ON event (id) WHERE state = 2;

        CREATE TABLE ring_position (
            ring_id INTEGER PRIMARY KEY,
            sequence INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        );

        CREATE TABLE call_output (
            id INTEGER PRIMARY KEY,
            call INTEGER NOT NULL,
            sink INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            due_at INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX call_output_due ON call_output (sink, due_at);
        -- Retention looks for pending outputs of each old call.
        CREATE INDEX call_output_call ON call_output (call);

        CREATE TABLE clock (id INTEGER PRIMARY KEY, set_by INTEGER NOT NULL, at INTEGER NOT NULL);

        """
        + sharedChange + sharedOrigin + originOpenings + eventDue + adoptedCall + callSignal + returnCandidate
        + returnKey + CallColumn.signatureTable + HourTally.tables + ShadowTally.table
        + DoorCalls.table

    // Empty without a shared ledger; `LedgerChanges` makes the triggers.
    private static let sharedChange = """
        CREATE TABLE shared_change (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind INTEGER NOT NULL,
            row INTEGER NOT NULL,
            UNIQUE (kind, row)
        );

        """

    private static let sharedOrigin =
        "CREATE TABLE shared_origin (id INTEGER PRIMARY KEY CHECK (id = 1), ledger INTEGER NOT NULL);\n"

    // They recognise an older copy of the file; see `LedgerChanges`.
    private static let originOpenings = """
        ALTER TABLE shared_origin ADD COLUMN opening INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE shared_origin ADD COLUMN opened INTEGER;

        """

    // The outbox of each customer is read on its own. Only waiting events are in the index.
    private static let eventDue = "CREATE INDEX event_due ON event (customer, due_at) WHERE state = 0;\n"

    // Calls of other gateways: each is taken over once.
    private static let adoptedCall = """
        CREATE TABLE adopted_call (call_id TEXT PRIMARY KEY, call INTEGER NOT NULL, gateway TEXT NOT NULL)
            WITHOUT ROWID;

        """

    // Numbers are never used twice, though rows are deleted once the shared ledger has them.
    private static let callSignal = """
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

        """

    private static let returnCandidate = """
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

        """

    // A call that rings several numbers at once can be returned by each; the first one's key is in `call`.
    private static let returnKey = """
        CREATE TABLE return_key (
            caller INTEGER NOT NULL, subscriber_key TEXT NOT NULL, call INTEGER NOT NULL,
            PRIMARY KEY (caller, subscriber_key, call)
        ) WITHOUT ROWID;

        """
}

extension Migrations {
    /// Tables of `brands.sqlite`: the directory's records, the state of the sync, and the copies of logos.
    static let brands: Migrations = {
        var brands = Migrations(tables: brandTables)
        brands.addReleased("brands 1")
        brands.addReleased("brands 2")
        brands.addReleased("brands 3")
        brands.addReleased("brands 4")
        brands.addReleased("brands 5")
        brands.add("brands 6", provisional)
        brands.add("brands cards", cards)
        return brands
    }()

    /// The tables of a new file.
    ///
    /// `sync_state` has exactly one row. `gates` is the JSON of `BrandingGates`, NULL before the first response of the
    /// directory. The validators are the JSON of `SyncValidator`. `card_url` is a template of `CardLinks`. `logo` has a row for each URL of the brands,
    /// `logo_file` for each file of a picture; `hash` is the picture's SHA-256 and joins them. `records` is the count
    /// of `brand`. `brand_change` and `changes_since` belong to `BrandChangeLog`.
    private static let brandTables =
        """
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
            generation INTEGER NOT NULL DEFAULT 0,
            full_validator TEXT,
            cursor_validator TEXT,
            changes_since INTEGER NOT NULL DEFAULT 0,
            records INTEGER NOT NULL DEFAULT 0,
            tombstones INTEGER,
            card_url TEXT
        );
        INSERT INTO sync_state (id) VALUES (1);

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

        CREATE TABLE brand_change (
            generation INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (generation, number)
        ) WITHOUT ROWID;

        """ + provisional

    // The numbers whose record came from a lookup and from no sync since.
    private static let provisional = "CREATE TABLE provisional (number INTEGER PRIMARY KEY);\n"

    // The response that a validator is for may have had a `card_url`, which earlier versions did not store.
    private static let cards = """
        ALTER TABLE sync_state ADD COLUMN card_url TEXT;
        UPDATE sync_state SET full_validator = NULL, cursor_validator = NULL;
        """
}

extension Migrations {
    /// Tables of `signers.sqlite`: certificates of signers, lists of authorities and revoked certificates.
    static let signers: Migrations = {
        var signers = Migrations(tables: signerTables)
        signers.add("signers 1")
        signers.add("signers chains of calls", temporaryChain)
        signers.add("signers fetches", fetches)
        signers.add("signers imports", imports)
        signers.add("signers lists", listFetches)
        return signers
    }()

    /// The tables of a new file; times are seconds since 1970.
    ///
    /// `state` has exactly one row: `generation` counts the changes, `regimes` has the rules that the standings were decided
    /// for (`DecidedRules`). `standings` has one byte for each regime. `issuers` of a signer are SHA-256 digests of 32 bytes, rows of `issuer`.
    /// `chain` is the digest of the chain as a token has it. `unknown_address` has no certificate yet.
    private static let signerTables = """
        CREATE TABLE state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            generation INTEGER NOT NULL DEFAULT 0,
            regimes BLOB NOT NULL DEFAULT x'',
            decided_at INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO state (id) VALUES (1);

        CREATE TABLE issuer (digest BLOB PRIMARY KEY, der BLOB NOT NULL) WITHOUT ROWID;

        CREATE TABLE signer (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            address TEXT UNIQUE,
            chain BLOB NOT NULL,
            leaf BLOB NOT NULL,
            issuers BLOB NOT NULL,
            key BLOB,
            authority BLOB,
            constraints BLOB NOT NULL,
            not_before INTEGER NOT NULL,
            not_after INTEGER NOT NULL,
            standings BLOB NOT NULL,
            subject TEXT NOT NULL,
            imported_at INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX signer_chain ON signer (chain) WHERE address IS NULL;

        CREATE TABLE unknown_address (address TEXT PRIMARY KEY, added_at INTEGER NOT NULL) WITHOUT ROWID;

        CREATE TABLE authority_list (
            regime TEXT PRIMARY KEY,
            sequence INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            token TEXT NOT NULL,
            imported_at INTEGER NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE revocation_list (
            signer BLOB PRIMARY KEY,
            der BLOB NOT NULL,
            imported_at INTEGER NOT NULL
        ) WITHOUT ROWID;

        """ + temporaryChain + fetches + imports + listFetches

    // Decisions on chains that calls brought, until the next decision on all signers. A decision is not repeated from its
    // row, so the certificates are left out. The columns are those of `signer`.
    private static let temporaryChain = """
        CREATE TABLE temporary_chain (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            chain BLOB NOT NULL UNIQUE,
            key BLOB,
            authority BLOB,
            constraints BLOB NOT NULL,
            not_before INTEGER NOT NULL,
            not_after INTEGER NOT NULL,
            standings BLOB NOT NULL,
            subject TEXT NOT NULL
        );

        """

    // States of fetches by address. An address with a row is one of `signer` or of `unknown_address`. `next_at` is the time of
    // the refresh, or the end of the pause after a failure. `changes` counts those that the call path must learn.
    private static let fetches = """
        CREATE TABLE fetch (
            address TEXT PRIMARY KEY,
            cause INTEGER,
            reason TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            next_at INTEGER NOT NULL,
            fetched_at INTEGER,
            expires_at INTEGER,
            etag TEXT,
            last_modified TEXT,
            is_renewed INTEGER NOT NULL,
            standings BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX fetch_next ON fetch (next_at);

        CREATE TABLE fetch_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            changes INTEGER NOT NULL DEFAULT 0,
            import_until INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO fetch_state (id) VALUES (1);

        """

    // Imports that are under way, each with the end of the time for which results of fetches wait for it.
    private static let imports = """
        CREATE TABLE import_wait (id INTEGER PRIMARY KEY, until INTEGER NOT NULL);
        ALTER TABLE fetch_state DROP COLUMN import_until;

        """

    // States of fetches of lists by address. `digest` is that of the list that the host has sent last and that was taken in.
    private static let listFetches = """
        CREATE TABLE list_fetch (
            address TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            reason TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            next_at INTEGER NOT NULL,
            fetched_at INTEGER,
            etag TEXT,
            last_modified TEXT
        ) WITHOUT ROWID;

        """
}
