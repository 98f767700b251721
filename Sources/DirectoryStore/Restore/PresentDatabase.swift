// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import Host

/// The database that a restore replaces, which no program has open.
struct PresentDatabase {
    let folder: String

    private var path: String { folder + "/directory.sqlite" }

    /// Files of the database beside it; a sound one has none after `fold`.
    private static let logs = ["directory.sqlite-wal", "directory.sqlite-shm"]

    /// Whether a file must be away before the new database is there: a log would get into it, and a begun import go on in it.
    private static func isMoved(_ name: String) -> Bool { logs.contains(name) || ImportJournal.isMark(name) }

    /// Writes the log into the file, so that the file alone is the database.
    ///
    /// - Returns: the epochs of the feeds by account; nil for a damaged or missing database.
    /// - Throws: `RestoreProblem` if the disk fails, or another program has just opened the file.
    func fold() throws(RestoreProblem) -> [Int64: Int64]? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            var configuration = Configuration()
            configuration.qos = .default
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.writeWithoutTransaction { database -> [Int64: Int64] in
                // The first column is 1 while another connection reads the log.
                let isBusy = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 1
                guard !isBusy else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
                guard try database.tableExists("feed_head") else { return [:] }
                let rows = try Row.fetchAll(database, sql: "SELECT account, epoch FROM feed_head")
                return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: max)
            }
        } catch {
            if DamageRecord.cause(of: error) != nil { return nil }
            let reason = (error as? DatabaseError)?.message ?? "\(error)"
            throw RestoreProblem(
                "the present \(path) cannot be put aside: \(reason); check its disk, or restore into a new folder")
        }
    }

    /// Keeps the database in a new folder, and puts the draft in its place with one rename.
    ///
    /// - Parameter kept: the new folder.
    /// - Returns: false if there was no database.
    /// - Throws: `RestoreProblem`; everything is as it was.
    func replace(by draft: String, keepingIn kept: String) throws(RestoreProblem) -> Bool {
        let hadDatabase = access(path, F_OK) == 0
        var names: [String] = []
        if hadDatabase {
            guard mkdir(kept, 0o750) == 0 else { throw problem(kept, "made") }
            StateOwner.adopt(kept, in: folder)
        }
        do throws(RestoreProblem) {
            if hadDatabase { try keep(in: kept, &names) }
            guard rename(draft, path) == 0 else { throw problem(path, "replaced") }
        } catch {
            takeBack(names, from: kept)
            throw error
        }
        // Rows without the mark of their merge mean nothing, also after a kill at this place.
        if hadDatabase { for name in imports { unlink(folder + "/" + name) } }
        sync(folder)
        return hadDatabase
    }

    /// Links the database and the rows of imports, and moves logs that `fold` has left and marks of begun imports.
    ///
    /// A kill afterwards leaves the earlier database in its place.
    func keep(in kept: String, _ names: inout [String]) throws(RestoreProblem) {
        // The marks last: a mark without its rows means nothing.
        let imports = imports.filter { !Self.isMoved($0) } + imports.filter(Self.isMoved)
        for name in ["directory.sqlite"] + imports + Self.logs where access(folder + "/" + name, F_OK) == 0 {
            let (from, to) = (folder + "/" + name, kept + "/" + name)
            // The place of the database is never empty.
            guard (Self.isMoved(name) ? rename(from, to) : link(from, to)) == 0 else { throw problem(to, "made") }
            names.append(name)
        }
        sync(kept)
        sync(folder)
    }

    private func takeBack(_ names: [String], from kept: String) {
        for name in names.reversed() {
            if Self.isMoved(name) {
                rename(kept + "/" + name, folder + "/" + name)
            } else {
                unlink(kept + "/" + name)
            }
        }
        rmdir(kept)
    }

    /// Files of imports that were interrupted.
    private var imports: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter(ImportJournal.ownsAny)
    }

    private func problem(_ path: String, _ verb: String) -> RestoreProblem {
        RestoreProblem("\(path) cannot be \(verb): \(SystemError.text(errno))")
    }

    private func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
