// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import GRDB
import SystemReasons

/// The directory's one SQLite file, `directory.sqlite` in the state folder: accounts, keys, brands, events, devices.
///
/// Writes are serialised by SQLite, also those of other processes; readers see whole states. Any thread.
package final class DirectoryDatabase: Sendable {
    let pool: DatabasePool
    /// The state folder, where uploads lie beside the file.
    package let folder: String
    /// Bytes that the clients of an account may have stored in a day beside counted events; 0 is no bound.
    package let storedPerDay: Int
    let keyUsage = KeyUsage()
    /// Small writes of requests, many in a transaction.
    let commits: GroupCommit
    /// A connection of its own for the question every request begins with.
    let keys: KeyReader

    /// Opens the file and brings it to the present schema.
    ///
    /// - Parameter creates: false for work that makes no sense on an empty database, so that a mistyped folder is an
    ///   error and not a new database.
    /// - Parameter storedPerDay: bytes that the clients of an account may have stored in a day; 0 is no bound.
    /// - Throws: `DirectoryDatabaseError` naming the file and what to do.
    package init(
        folder: String, creates: Bool = true, storedPerDay: Int = 0
    ) throws(DirectoryDatabaseError) {
        self.folder = folder
        self.storedPerDay = storedPerDay
        let path = folder + "/directory.sqlite"
        do {
            let files = FileManager.default
            if !files.fileExists(atPath: path) {
                let isForbidden = access(path, F_OK) != 0 && errno == EACCES
                guard creates || isForbidden else {
                    throw DirectoryDatabaseError(path: path, reason: "there is no such file")
                }
                guard !isForbidden else {
                    throw DirectoryDatabaseError(
                        path: path,
                        problem: StateOwner.problem(in: folder).map { .owner($0) } ?? .open(SystemReason.text(EACCES)))
                }
                try files.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
                // Events hold subscribers' numbers. SQLite gives its journals the permissions of the file.
                guard files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o640]) else {
                    throw DirectoryDatabaseError(path: path, reason: "the file cannot be made")
                }
                // SQLite gives its journals the owner of the file.
                StateOwner.adopt(path, in: folder)
            }
            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            guard try !pool.read({ try Self.migrator.hasBeenSuperseded($0) }) else {
                throw DirectoryDatabaseError(path: path, problem: .newer)
            }
            // An event that was answered must outlive a power cut, because its sender forgets it then.
            // The writer alone gets a large cache, because events touch the same pages of their indexes again and again.
            let writer = "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; \(Self.logLimit)"
            try pool.writeWithoutTransaction { try $0.execute(sql: writer) }
            try Self.migrator.migrate(pool)
            self.pool = pool
            commits = GroupCommit(pool)
            keys = try KeyReader(path: path)
        } catch let error as DirectoryDatabaseError {
            throw error
        } catch {
            // Without the statement that failed, which tells an operator nothing.
            if let owner = StateOwner.problem(in: folder, [path, path + "-wal", path + "-shm"]) {
                throw DirectoryDatabaseError(path: path, problem: .owner(owner))
            }
            let reason = (error as? DatabaseError)?.message ?? SystemReason.text(error) ?? "\(error)"
            throw DirectoryDatabaseError(path: path, reason: reason)
        }
    }

    /// Writes the times at which keys were used since the last call.
    package func writeKeyUsage() async throws { try await keyUsage.write(to: pool) }

    /// A connection of its own for a long piece of work, so that the pool's writer waits for its last step only.
    func connection() throws -> DatabaseQueue {
        var configuration = Self.configuration
        // 64 MiB, where SQLite has 2: a large merge holds the writer for a shorter time.
        let merge = "PRAGMA cache_size = -65536; \(Self.logLimit)"
        configuration.prepareDatabase { try $0.execute(sql: merge) }
        return try DatabaseQueue(path: pool.path, configuration: configuration)
    }

    // The log of writes (WAL) grows with a large import, and while a long answer is read. SQLite begins it again from its
    // start, and cuts it to this many bytes then; without a limit it would keep its largest size for good.
    private static let logLimit = "PRAGMA journal_size_limit = 67108864"

    /// Reads something, so that a health check fails when the file cannot be read any more.
    package func check() async throws {
        _ = try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM account") }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        // The merge of a million numbers holds the writer for some seconds, also that of a command beside the server.
        configuration.busyMode = .timeout(60)
        configuration.foreignKeysEnabled = true
        // KiB. Each long sync answer has a connection of its own, so that this bounds the memory of a hundred of them.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
        return configuration
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: firstSchema) }
        migrator.registerMigration("contract 2") { try $0.execute(sql: ContractSchema.statements) }
        OperatorSchema.register(in: &migrator)
        OperationSchema.register(in: &migrator)
        migrator.registerMigration("phones 5") { try $0.execute(sql: PhoneSchema.statements) }
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

/// A database that cannot be used; the program ends with this message.
package struct DirectoryDatabaseError: Error, Hashable, CustomStringConvertible {
    enum Problem: Hashable {
        case open(String)
        /// Another user's file, with the remedy.
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
