// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import GRDB
import Host

/// The one SQLite file of a directory, `directory.sqlite` in the state folder.
///
/// SQLite serialises writes, including those of other processes; readers see consistent states. Thread-safe.
final class SQLiteFile: StoreEngine {
    /// The connections of GRDB.
    let database: DatabasePool
    let connections: SQLitePool
    let folder: String
    let damage: DamageRecord
    /// Keeps a restore away; nil where the folder has no lock.
    private let use: StateUse?
    /// A connection for the key lookup of every request.
    private let keys: KeyReader

    /// Opens the file and migrates it to the present schema.
    ///
    /// - Parameter creates: false for commands that need an existing database, so that a mistyped folder is an error
    ///   and not a new database.
    init(folder: String, creates: Bool) throws(DirectoryDatabaseError) {
        self.folder = folder
        let path = folder + "/directory.sqlite"
        damage = DamageRecord(of: path)
        do {
            // Before the file is made: a restore may be about to make it.
            var use = try StateUse.beside(in: folder, creates: FileManager.default.fileExists(atPath: path))
            if !FileManager.default.fileExists(atPath: path) {
                try Self.create(path, in: folder, isAllowed: creates)
                if use == nil { use = try StateUse.beside(in: folder, creates: true) }
            }
            self.use = use
            let database = try DatabasePool(path: path, configuration: Self.configuration)
            guard try !database.read(Self.isNewer) else { throw DirectoryDatabaseError(path: path, problem: .newer) }
            // An acknowledged event must survive a power cut, because its sender deletes it. Only the writer gets a
            // large cache, because events change the same index pages repeatedly.
            let writer = "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; \(Self.logLimit)"
            try database.writeWithoutTransaction { try $0.execute(sql: writer) }
            try SQLiteMigrations.migrate(database)
            try database.writeWithoutTransaction { database in
                if try Self.schema(database) < Self.version {
                    try database.execute(sql: "PRAGMA user_version = \(Self.version)")
                }
            }
            self.database = database
            connections = SQLitePool(database, damage) { try Self.connection(path) }
            keys = try KeyReader(path: path, damage)
        } catch let error as DirectoryDatabaseError {
            throw error
        } catch is SQLiteMigrations.BeforeFirstVersion {
            throw DirectoryDatabaseError(path: path, problem: .tooOld)
        } catch {
            // The failed statement is left out, because it does not help an operator.
            if let owner = StateOwner.problem(in: folder, [path, path + "-wal", path + "-shm"]) {
                throw DirectoryDatabaseError(path: path, problem: .owner(owner))
            }
            let reason = (error as? DatabaseError)?.message ?? SystemError.text(error) ?? "\(error)"
            throw DirectoryDatabaseError(path: path, reason: reason)
        }
    }

    var path: String { folder + "/directory.sqlite" }

    var place: String { path }

    var pool: any SQLPool { connections }

    var replica: (any SQLPool)? { nil }

    var bytes: any ByteStore { FileBytes(folder: folder) }

    var looksUpPolls: Bool { false }

    func caller(ofKey hash: Data, now: Int64) async throws -> Caller? {
        try keys.read { try Caller.ofKey(hash: hash, now: now, $0) }
    }

    func takesLease(_: String, holder _: String) async throws -> Bool { true }

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

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        // Commands beside the server write too. SQLite's own wait grows to 100 ms, and a merge leaves 10 ms between two
        // steps, so the wait could last as long as the merge.
        configuration.busyMode = .callback { attempts in
            usleep(2_000)
            return attempts < 30_000
        }
        // The health check must find a free reader beside the work of operators.
        configuration.maximumReaderCount = 10
        configuration.foreignKeysEnabled = true
        // KiB. Each long sync response has a connection of its own, so this limits the memory of a hundred of them.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
        return configuration
    }

    /// The schema of this program: the count of its migrations.
    static var version: Int { SQLiteMigrations.migrator.migrations.count }

    /// The schema of the file, in its head; 0 before the first migration.
    static func schema(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// True for a file of an earlier program, which an opening would bring up to date; false without a readable file.
    static func isOlder(in folder: String) -> Bool {
        var configuration = Configuration()
        (configuration.readonly, configuration.qos) = (true, .default)
        let path = folder + "/directory.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { return false }
        let schema = try? DatabaseQueue(path: path, configuration: configuration).read(schema)
        return schema.map { $0 < version } ?? false
    }

    /// True for a file that a later program has changed: it has another migration, or a higher schema.
    static func isNewer(_ database: Database) throws -> Bool {
        try SQLiteMigrations.migrator.hasBeenSuperseded(database) || schema(database) > version
    }
}
