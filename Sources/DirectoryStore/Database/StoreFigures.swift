// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import GRDB
import HostFiles
package import MetricsPage

/// Sizes of the directory for its status page and its metrics; no person and no key.
package struct StoreFigures: Hashable, Sendable {
    /// Accounts, closed ones included.
    package var accounts = 0
    /// Accounts whose status is `active`.
    package var activeAccounts = 0
    /// Numbers in use, of all accounts.
    package var numbers = 0
    /// The number of the last change in the feed, the highest of all accounts.
    package var lastChange: Int64 = 0
    /// Events of this day in UTC, counted or not.
    package var eventsToday = 0
    /// Bytes of `directory.sqlite` and of its write-ahead log.
    package var databaseBytes: Int64 = 0
    package var logBytes: Int64 = 0
    /// Bytes that the program may still write to the disk of the state folder.
    package var freeBytes: Int64 = 0
    /// Seconds since 1970 of the last `herald-directory backup`; nil before the first one.
    package var lastBackup: Int64?
}

extension DirectoryDatabase {
    /// Reads the figures; counts all numbers, which takes a second for ten million.
    ///
    /// - Parameter now: seconds since 1970.
    package func figures(now: Int64) async throws -> StoreFigures {
        let day = String(Timestamp.string(from: now).prefix(10))
        var figures = try await pool.read { database in
            var figures = StoreFigures()
            figures.accounts = try database.value(Int.self, "SELECT count(*) FROM account") ?? 0
            figures.activeAccounts =
                try database.value(Int.self, "SELECT count(*) FROM account WHERE status = 'active'") ?? 0
            figures.numbers = try database.value(Int.self, "SELECT count(*) FROM brand_number WHERE active") ?? 0
            figures.lastChange = try database.value(Int64.self, "SELECT max(last_change) FROM feed_head") ?? 0
            // The list of accounts lets the query use the primary key.
            figures.eventsToday =
                try database.value(
                    Int.self,
                    """
                    SELECT CAST(coalesce(sum(events), 0) AS BIGINT) FROM day_outcome
                    WHERE account IN (SELECT id FROM account) AND day = ?
                    """, [day]) ?? 0
            return figures
        }
        figures.databaseBytes = Self.size(file.path)
        figures.logBytes = Self.size(file.path + "-wal")
        var space = statvfs()
        if statvfs(folder, &space) == 0 { figures.freeBytes = Int64(space.f_bavail) * Int64(space.f_frsize) }
        figures.lastBackup = LastBackup(folder: folder).time
        return figures
    }

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Times of commits in seconds, from the begin of a transaction to the disk.
    package var commitTimes: Distribution { commits.times.distribution }

    /// Writes of requests that wait for a commit.
    package var waitingWrites: Int { commits.waiting }

    /// Writes to the file without changing it, so that a full disk or a read-only folder shows.
    ///
    /// - Throws: `StoreProblem`.
    package func probe() async throws(StoreProblem) {
        do {
            let isNewer = try await file.write { database in
                // The number in the head of the file, which nothing else uses; the page is written all the same.
                let number = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                try database.execute(sql: "PRAGMA user_version = \(number)")
                return try Self.migrator.hasBeenSuperseded(database)
            }
            if isNewer { throw StoreProblem.newer }
        } catch {
            throw error as? StoreProblem ?? StoreProblem(error)
        }
    }
}

/// The reason why the directory's file cannot be written, for people.
package enum StoreProblem: Error, Hashable, CustomStringConvertible {
    case full
    case readOnly
    /// Another program has held the file for a minute.
    case locked
    /// A newer version has changed the file beside this program.
    case newer
    case other(String)

    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .other("\(error)")
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_READONLY: self = .readOnly
        case .SQLITE_BUSY: self = .locked
        default: self = .other(error.message ?? "SQLite error \(error.resultCode.rawValue)")
        }
    }

    package var description: String {
        switch self {
        case .full: "the disk of the state folder is full; free some space"
        case .readOnly: "the state folder is read-only; mount it for writing, or correct its owner"
        case .locked: "another program has held the database for a minute; end it, or wait for its import"
        case .newer: "a newer herald-directory has changed the database; start that version"
        case .other(let reason): "the database cannot be written: \(reason); check the disk and the log"
        }
    }
}

/// The time of the last backup, in a file of the state folder.
struct LastBackup {
    private let path: String
    private let folder: String

    init(folder: String) {
        self.folder = folder
        path = folder + "/last-backup"
    }

    /// Seconds since 1970; nil before the first backup.
    var time: Int64? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return Int64(text.filter { !$0.isNewline })
    }

    /// Keeps the present time; a failure loses it, because the backup itself is there.
    func record() {
        try? PrivateFile.write(Array("\(Int64(Date().timeIntervalSince1970))\n".utf8), to: path)
        StateOwner.adopt(path, in: folder)
    }
}
