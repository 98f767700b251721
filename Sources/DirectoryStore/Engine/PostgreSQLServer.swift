// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Host
import PostgreSQL

/// The address of a directory's database on a PostgreSQL server.
package struct DatabaseServer: Hashable, Sendable {
    /// A connection URL without a password; several hosts are asked in turn for the primary.
    package var url: String
    /// A file with the password; nil if libpq finds it.
    package var passwordFile: String?
    /// The URL of a standby that serves syncs; nil asks the primary.
    package var replica: String?
    /// Most connections for requests.
    package var connections = 8
    /// Most connections for long sync responses and exports.
    package var feeds = 16

    package init(url: String) { self.url = url }

    /// Hosts and database, without user and password.
    package var place: String { (try? PostgreSQLAddress(url))?.description ?? "the server of the configuration" }

    /// - Throws: `DirectoryDatabaseError` for an invalid URL, or a password file that cannot be read.
    fileprivate func address(_ url: String, primary: Bool) throws(DirectoryDatabaseError) -> PostgreSQLAddress {
        var password: String?
        if let passwordFile {
            guard let text = try? String(contentsOfFile: passwordFile, encoding: .utf8) else {
                throw DirectoryDatabaseError(
                    path: passwordFile,
                    problem: .server(
                        "\(passwordFile) with the password of PostgreSQL cannot be read: "
                            + SystemError.ofReading(passwordFile)))
            }
            password = text.filter { !$0.isNewline }
        }
        do {
            return try PostgreSQLAddress(
                url, password: password, defaults: primary ? ["target_session_attrs": "read-write"] : [:])
        } catch {
            throw DirectoryDatabaseError(path: "database", problem: .server("database: \(error)"))
        }
    }
}

/// The database of a directory on a PostgreSQL server, which several nodes can share; thread-safe.
final class PostgreSQLServer: StoreEngine {
    let store: PostgreSQLStore
    let damage: DamageRecord
    private let standby: PostgreSQLStore?
    private let keys: KeyLookup
    private let folder: String

    /// Connects, and creates or migrates the tables.
    ///
    /// - Parameter creates: whether a missing folder is created.
    init(_ server: DatabaseServer, folder: String, creates: Bool) throws(DirectoryDatabaseError) {
        let address = try server.address(server.url, primary: true)
        do {
            try PostgreSQLSchema.migrate(PostgreSQLSession(address, application: PostgreSQLStore.application))
        } catch PostgreSQLSchema.Problem.newer {
            throw DirectoryDatabaseError(path: "the database \(address.description)", problem: .newer)
        } catch PostgreSQLSchema.Problem.notAllowed(let error) {
            throw DirectoryDatabaseError(
                path: address.description,
                problem: .server(
                    "\(error). Run herald-directory accounts list with --database and the URL of the tables' owner once"
                )
            )
        } catch {
            throw DirectoryDatabaseError(path: address.description, problem: .server("\(error)"))
        }
        damage = DamageRecord(of: "the database \(address.description)")
        store = PostgreSQLStore(address, damage, sessions: server.connections, snapshots: server.feeds)
        if let url = server.replica {
            let address = try server.address(url, primary: false)
            standby = PostgreSQLStore(
                address, DamageRecord(of: "the database \(address.description)"), sessions: server.connections,
                snapshots: server.feeds)
        } else {
            standby = nil
        }
        keys = KeyLookup(store)
        self.folder = folder
        guard creates else { return }
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    }

    var place: String { "PostgreSQL at \(store.place)" }

    var pool: any SQLPool { store }

    var replica: (any SQLPool)? { standby }

    var bytes: any ByteStore { TableBytes(pool: store) }

    var looksUpPolls: Bool { standby == nil }

    func caller(ofKey hash: Data, now: Int64) async throws -> Caller? {
        try await keys.caller(ofKey: hash, now: now)
    }

    // The clock of the server decides, because the clocks of nodes differ.
    func takesLease(_ work: String, holder: String) async throws -> Bool {
        try await store.write(.locked) { database in
            try database.execute(
                """
                INSERT INTO lease (name, holder, until) VALUES (?, ?, now() + INTERVAL '3 minutes')
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
                WHERE lease.holder = excluded.holder OR lease.until < now()
                """, [work, holder]) > 0
        }
    }

    func probe() async throws(StoreProblem) {
        do {
            let oldest = try await store.write(.locked) { database in
                try database.execute("UPDATE meta SET value = value WHERE name = 'schema'")
                return try Self.oldestSchema(database)
            }
            if oldest > PostgreSQLSchema.version { throw StoreProblem.newer }
        } catch {
            throw error as? StoreProblem ?? .server("\(error)")
        }
    }

    func lookForDamage(_: WorkTurn) {}

    func sizes() async throws -> (database: Int64, log: Int64) { (try await store.read { try Self.size($0) }, 0) }

    /// The oldest schema whose programs can use the tables.
    private static func oldestSchema(_ database: any SQLConnection) throws -> Int {
        try database.value(Int.self, "SELECT value FROM meta WHERE name = 'oldest_schema'") ?? 0
    }

    private static func size(_ database: any SQLConnection) throws -> Int64 {
        try database.value(Int64.self, "SELECT pg_database_size(current_database())") ?? 0
    }

    func replication() async throws -> PostgreSQLReplication? { try await store.replication() }

    var load: PostgreSQLPool.Load? { store.load }

    func health() -> DirectoryHealth {
        var problems: [String] = []
        var replication: PostgreSQLReplication?
        var size: Int64 = 0
        do {
            let (bytes, oldest) = try store.read { (try Self.size($0), try Self.oldestSchema($0)) }
            size = bytes
            let present = try store.presentReplication()
            problems += present.problems.map { "The server of the database: \($0)." }
            replication = present
            if oldest > PostgreSQLSchema.version {
                let path = "the database \(store.place)"
                problems.append(DirectoryDatabaseError(path: path, problem: .newer).description + ", and restart it.")
            }
        } catch {
            problems.append(trouble(of: error) ?? "\(error)")
        }
        if let replica {
            do {
                _ = try replica.read { try $0.exists("SELECT 1") }
            } catch {
                problems.append("The replica cannot be read, so the primary serves all syncs. \(error).")
            }
        }
        let space = DiskSpace(of: folder)
        return DirectoryHealth(
            free: space?.free, total: space?.total, databaseBytes: size, logBytes: 0, backups: [], problems: problems,
            replication: replication)
    }

    func trouble(of error: any Error) -> String? {
        if let error = error as? PostgreSQLError { return "\(error)." }
        return SystemError.text(error).map { "A file in \(folder) cannot be used: \($0)." }
    }

    func backUp(to path: String) throws {
        throw ServerBackupError(server: store.place)
    }

    var lastBackup: Int64? { nil }
}
