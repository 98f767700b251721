// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import GRDB
import HostSystem

/// The directory's one SQLite file, `directory.sqlite` in the state folder: accounts, keys, brands, events, devices.
///
/// SQLite serialises writes, including those of other processes; readers see consistent states. Thread-safe.
package final class DirectoryDatabase: Sendable {
    let pool: any SQLPool
    /// The connections to the file, for what SQLite alone has.
    let file: DatabasePool
    /// The state folder; it has the database file and the uploads.
    package let folder: String
    /// Bytes that the clients of an account may store in a day beside counted events; 0 means no limit.
    package let storedPerDay: Int
    let keyUsage = KeyUsage()
    /// Small writes of requests, batched into transactions.
    let commits: GroupCommit
    /// A connection for the key lookup of every request.
    let keys: KeyReader

    /// Opens the file and migrates it to the present schema.
    ///
    /// - Parameter creates: false for commands that need an existing database, so that a mistyped folder is an error
    ///   and not a new database.
    /// - Parameter storedPerDay: bytes that the clients of an account may store in a day; 0 means no limit.
    /// - Throws: `DirectoryDatabaseError` with the file and the remedy.
    package init(
        folder: String, creates: Bool = true, storedPerDay: Int = 0
    ) throws(DirectoryDatabaseError) {
        self.folder = folder
        self.storedPerDay = storedPerDay
        let path = folder + "/directory.sqlite"
        do {
            if !FileManager.default.fileExists(atPath: path) {
                try Self.create(path, in: folder, isAllowed: creates)
            }
            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            guard try !pool.read({ try Self.migrator.hasBeenSuperseded($0) }) else {
                throw DirectoryDatabaseError(path: path, problem: .newer)
            }
            // An acknowledged event must survive a power cut, because its sender deletes it. Only the writer gets a
            // large cache, because events change the same index pages repeatedly.
            let writer = "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; \(Self.logLimit)"
            try pool.writeWithoutTransaction { try $0.execute(sql: writer) }
            try Self.migrator.migrate(pool)
            file = pool
            let connections = SQLitePool(pool) { try Self.connection(path) }
            self.pool = connections
            commits = GroupCommit(connections)
            keys = try KeyReader(path: path)
        } catch let error as DirectoryDatabaseError {
            throw error
        } catch {
            // The failed statement is left out, because it does not help an operator.
            if let owner = StateOwner.problem(in: folder, [path, path + "-wal", path + "-shm"]) {
                throw DirectoryDatabaseError(path: path, problem: .owner(owner))
            }
            let reason = (error as? DatabaseError)?.message ?? SystemError.text(error) ?? "\(error)"
            throw DirectoryDatabaseError(path: path, reason: reason)
        }
    }

    /// Creates an empty database file and its folder.
    private static func create(_ path: String, in folder: String, isAllowed: Bool) throws {
        let isForbidden = access(path, F_OK) != 0 && errno == EACCES
        guard isAllowed || isForbidden else {
            throw DirectoryDatabaseError(path: path, reason: "there is no such file")
        }
        guard !isForbidden else {
            throw DirectoryDatabaseError(
                path: path,
                problem: StateOwner.problem(in: folder).map { .owner($0) } ?? .open(SystemError.text(EACCES)))
        }
        let files = FileManager.default
        try files.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        // Events have subscribers' numbers. SQLite gives its journals the permissions of the file.
        guard files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o640]) else {
            throw DirectoryDatabaseError(path: path, reason: "the file cannot be created")
        }
        // SQLite gives its journals the owner of the file.
        StateOwner.adopt(path, in: folder)
    }

    /// Writes the times at which keys were used since the last call.
    package func writeKeyUsage() async throws { try await keyUsage.write(to: pool) }

    /// Opens a connection for long work, so that the pool's writer waits for its last step only.
    static func connection(_ path: String) throws -> DatabaseQueue {
        var configuration = Self.configuration
        // 64 MiB instead of SQLite's 2 MiB shortens the time for which a large merge blocks the writer.
        let merge = "PRAGMA cache_size = -65536; PRAGMA temp.cache_size = -16384; \(Self.logLimit)"
        configuration.prepareDatabase { try $0.execute(sql: merge) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    // The write-ahead log (WAL) grows with a large import and while a long response is read. When SQLite restarts the
    // log, it truncates it to this many bytes; without a limit the file would never shrink.
    private static let logLimit = "PRAGMA journal_size_limit = 67108864"

    /// Reads one value, so that a health check fails when the file is unreadable.
    package func check() async throws {
        _ = try await pool.read { try $0.value(Int.self, "SELECT count(*) FROM account") }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        // The merge of a million numbers blocks the writer for some seconds, even from a command beside the server.
        configuration.busyMode = .timeout(60)
        configuration.foreignKeysEnabled = true
        // KiB. Each long sync response has a connection of its own, so this limits the memory of a hundred of them.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
        return configuration
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: firstSchema) }
        migrator.registerMigration("contract 2") { try $0.execute(sql: ContractSchema.statements) }
        OperatorSchema.register(in: &migrator)
        OperationSchema.register(in: &migrator)
        migrator.registerMigration("phones 5") { try $0.execute(sql: PhoneSchema.statements) }
        migrator.registerMigration("engines 6") { try $0.execute(sql: EngineSchema.statements) }
        return migrator
    }

    private static let firstSchema = """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL, branding_enabled INTEGER NOT NULL,
            voip_dialer_enabled INTEGER NOT NULL, status TEXT NOT NULL, cap_this_month INTEGER,
            included_imprints INTEGER NOT NULL, last_change INTEGER NOT NULL);
        INSERT INTO account VALUES (1, lower(hex(randomblob(16))), 'live', 1, 1, 'active', NULL, 0, 0);

        CREATE TABLE api_key (
            hash BLOB PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id), name TEXT NOT NULL,
            created INTEGER NOT NULL, revoked INTEGER) WITHOUT ROWID;
        CREATE UNIQUE INDEX api_key_name ON api_key (account, name) WHERE revoked IS NULL;

        CREATE TABLE brand_number (
            account INTEGER NOT NULL REFERENCES account (id), number INTEGER NOT NULL, name TEXT NOT NULL,
            brand_id TEXT NOT NULL, logo_url TEXT, call_reason TEXT, updated INTEGER NOT NULL, active INTEGER NOT NULL,
            change INTEGER NOT NULL, PRIMARY KEY (account, number)) WITHOUT ROWID;
        CREATE UNIQUE INDEX brand_number_change ON brand_number (account, change);

        CREATE TABLE event (
            id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account (id), event_id TEXT NOT NULL UNIQUE,
            event_key TEXT, number TEXT NOT NULL, outcome TEXT NOT NULL, surface TEXT, device_id TEXT,
            displayed_at TEXT NOT NULL, meta TEXT, counted INTEGER NOT NULL, reason TEXT, received INTEGER NOT NULL,
            UNIQUE (account, event_key));

        CREATE TABLE month_usage (
            account INTEGER NOT NULL REFERENCES account (id), month TEXT NOT NULL, counted INTEGER NOT NULL,
            PRIMARY KEY (account, month)) WITHOUT ROWID;

        CREATE TABLE device (
            account INTEGER NOT NULL REFERENCES account (id), device_id TEXT NOT NULL, platform TEXT NOT NULL,
            os_version TEXT, app_version TEXT, sdk_version TEXT, registered INTEGER NOT NULL, last_seen INTEGER NOT NULL,
            last_synced_at TEXT, PRIMARY KEY (account, device_id)) WITHOUT ROWID;
        """
}

/// The database cannot be opened; the program ends with this message.
package struct DirectoryDatabaseError: Error, Hashable, CustomStringConvertible {
    enum Problem: Hashable {
        case open(String)
        /// The file belongs to another user; the text has the remedy.
        case owner(String)
        case newer
    }

    package let path: String
    let problem: Problem

    init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    init(path: String, reason: String) { self.init(path: path, problem: .open(reason)) }

    package var description: String {
        switch problem {
        case .open(let reason):
            "\(path) cannot be opened: \(reason); is the state folder right, writable, and not full?"
        case .owner(let reason): "\(path) cannot be opened: \(reason)"
        case .newer: "\(path) was written by a newer herald-directory; install that version again"
        }
    }
}
