// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Host
import PostgreSQL
import Primitives

extension SQLiteFile {
    func health() -> DirectoryHealth {
        let space = DiskSpace(of: folder)
        var problems: [String] = []
        if access(path, F_OK) != 0 {
            problems.append(
                "\(path) is missing: \(SystemError.text(errno)). Mount its disk, or restore a backup, and restart herald-directory."
            )
        } else if let problem = space?.problem(of: folder) {
            problems.append(problem)
        } else if access(folder, W_OK) != 0 || access(path, W_OK) != 0 {
            problems.append(
                StateOwner.problem(in: folder, [path])
                    ?? "\(folder) cannot be written: \(SystemError.text(errno)). Give it back to this user with chown.")
        }
        do {
            if try database.read(Self.isNewer) {
                problems.append(DirectoryDatabaseError(path: path, problem: .newer).description + ", and restart it.")
            }
        } catch {
            problems.append(trouble(of: error) ?? "\(path) cannot be read: \(error)")
        }
        if let damage = damage.text, !problems.contains(where: { $0.contains("damaged") }) {
            problems.append(damage + ".")
        }
        return DirectoryHealth(
            free: space?.free, total: space?.total, databaseBytes: Self.size(path), logBytes: Self.size(path + "-wal"),
            backups: backups(), problems: problems)
    }

    func trouble(of error: any Error) -> String? {
        if let error = error as? DatabaseError {
            switch error.resultCode {
            case .SQLITE_FULL: return "The disk of \(folder) is full. Free space, then try again."
            case .SQLITE_READONLY, .SQLITE_PERM:
                return "\(folder) cannot be written. Mount it for writing, or give it back to this user."
            case .SQLITE_IOERR:
                return
                    "The disk of \(folder) does not work: \(error.message ?? "I/O error"). Look at dmesg, then restart."
            case .SQLITE_CANTOPEN:
                return "A file in \(folder) cannot be opened. Check that its disk is mounted and belongs to this user."
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                return "\(folder)/directory.sqlite is damaged. Stop herald-directory and restore a backup."
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                return "Another program writes to \(folder)/directory.sqlite. Try again in a minute."
            case .SQLITE_ERROR where isNewer:
                return DirectoryDatabaseError(path: folder + "/directory.sqlite", problem: .newer).description + "."
            default: return "The database failed: \(error.message ?? "\(error.resultCode)"). See the log."
            }
        }
        if let failure = error as? FileReplacementError { return "\(failure)." }
        return SystemError.text(error).map { "A file in \(folder) cannot be used: \($0)." }
    }

    /// True after a newer program has migrated the open database.
    private var isNewer: Bool { (try? database.read(Self.isNewer)) == true }

    private func backups() -> [DirectoryHealth.Backup] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let copies = names.prefix(1000).compactMap { name -> DirectoryHealth.Backup? in
            guard !name.hasPrefix("directory.sqlite"), !ImportJournal.owns(name), Self.isDatabase(folder + "/" + name)
            else { return nil }
            var status = stat()
            guard stat(folder + "/" + name, &status) == 0 else { return nil }
            return .init(name: name, bytes: Int64(status.st_size), written: Int64(status.st_mtim.tv_sec))
        }
        return Array(copies.sorted { ($0.written, $0.name) > ($1.written, $1.name) }.prefix(20))
    }

    /// True for the magic string of a database file.
    ///
    /// Source: SQLite, Database File Format §1.3.1.
    private static func isDatabase(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let file = FileHandle(forReadingAtPath: path)
        else { return false }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }

    func lookForDamage(_ turn: WorkTurn) throws {
        var configuration = Configuration()
        (configuration.readonly, configuration.qos) = (true, .default)
        try damage.watching {
            try DatabaseQueue(path: path, configuration: configuration).inDatabase { database in
                // One table after another: a reader of the whole file would keep the log from being emptied.
                for table in try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'") {
                    let found = try String.fetchOne(database, sql: "PRAGMA quick_check('\(table)')")
                    if let found, found != "ok" { return damage.add(String(found.prefix(200))) }
                    try turn.rest(milliseconds: 1)
                }
            }
        }
    }

    func sizes() async throws -> (database: Int64, log: Int64) { (Self.size(path), Self.size(path + "-wal")) }

    func replication() async throws -> PostgreSQLReplication? { nil }

    var load: PostgreSQLPool.Load? { nil }

    var lastBackup: Int64? { LastBackup(folder: folder).time }

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
