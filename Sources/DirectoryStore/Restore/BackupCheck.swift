// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB

/// The checks of a backup before it is restored: nothing of the file is believed.
///
/// A file of another program, of a newer or a too old version, with damage, or with statements of its own is refused.
struct BackupCheck {
    let path: String

    /// Checks the whole file, without a change.
    ///
    /// Takes about a minute for ten million events.
    ///
    /// - Parameter name: the file as the texts name it.
    /// - Throws: `RestoreProblem`.
    func run(as name: String) throws(RestoreProblem) -> RestoredContents {
        do {
            return try queue(readOnly: true).read { database in
                try checkOrigin(database, name)
                try checkIntegrity(database, name)
                if try SQLiteFile.schema(database) == SQLiteFile.version { try checkTables(database, name) }
                return try RestoredContents(database)
            }
        } catch {
            throw problem(error, name)
        }
    }

    /// Brings a checked copy to the present schema, and begins a new epoch of each feed.
    ///
    /// A gateway that has seen changes after the backup then receives the whole set.
    ///
    /// - Parameter epochs: those of the replaced database by account; nil if they are unknown. Then chance avoids those of an
    ///   earlier restore of the same backup.
    func complete(after epochs: [Int64: Int64]?, as name: String) throws(RestoreProblem) {
        do {
            let queue = try queue(readOnly: false)
            try SQLiteMigrations.migrator.migrate(queue)
            // The last digit of an epoch is in the cursors.
            let step = epochs == nil ? Int64.random(in: 2...9) : 1
            try queue.write { database in
                try database.execute(sql: "PRAGMA user_version = \(SQLiteFile.version)")
                try checkTables(database, name)
                for row in try Row.fetchAll(database, sql: "SELECT account, epoch FROM feed_head") {
                    let (account, epoch): (Int64, Int64) = (row[0], row[1])
                    try database.execute(
                        sql: "UPDATE feed_head SET epoch = ? WHERE account = ?",
                        arguments: [max(epoch, epochs?[account] ?? 0) + step, account])
                }
            }
            try queue.close()
        } catch {
            throw problem(error, name)
        }
    }

    private func queue(readOnly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        (configuration.readonly, configuration.qos) = (readOnly, .default)
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Refuses a file that no version of this program has written, and one of a version that does not fit.
    private func checkOrigin(_ database: Database, _ name: String) throws {
        let steps = try SQLiteMigrations.migrator.appliedIdentifiers(database)
        let isOurs = try steps.contains("v1") && database.tableExists("account") && database.tableExists("brand_number")
        guard isOurs else {
            throw RestoreProblem("\(name) is no database of herald-directory; name a file of herald-directory backup")
        }
        guard try !SQLiteFile.isNewer(database) else {
            throw RestoreProblem("\(DirectoryDatabaseError(path: name, problem: .newer))")
        }
        guard steps.isSuperset(of: SQLiteMigrations.released) else {
            throw RestoreProblem("\(DirectoryDatabaseError(path: name, problem: .tooOld))")
        }
        let own = "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1"
        if let object = try String.fetchOne(database, sql: own) {
            throw RestoreProblem("\(name) has the \(object), which no directory has; take another backup")
        }
    }

    private func checkIntegrity(_ database: Database, _ name: String) throws {
        let found = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? "ok"
        // A heading is in the first line.
        guard found == "ok" else { throw damaged(name, String(found.split(separator: "\n").last?.prefix(200) ?? "")) }
        if let row = try Row.fetchOne(database, sql: "PRAGMA foreign_key_check") {
            throw damaged(name, "a row of \(row[0] as String? ?? "a table") names a missing row")
        }
    }

    /// Refuses tables that differ from those of a new directory.
    private func checkTables(_ database: Database, _ name: String) throws {
        let new = try DatabaseQueue().write { database in
            try database.execute(sql: DirectorySchema.script(.sqlite))
            return try Self.tables(database)
        }
        let found = try Self.tables(database)
        guard let other = new.symmetricDifference(found).min() else { return }
        throw RestoreProblem("\(name) has other tables than a directory: \(other.prefix(200)); take another backup")
    }

    /// Columns, references and indexes of each table, in no order.
    private static func tables(_ database: Database) throws -> Set<String> {
        let names = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return try names.reduce(into: []) { tables, table in
            guard table != "grdb_migrations" else { return }
            for pragma in ["table_xinfo", "foreign_key_list", "index_list"] {
                let rows = try Row.fetchAll(database, sql: "SELECT * FROM pragma_\(pragma)(?)", arguments: [table])
                for row in rows {
                    // The places in the file, and names that SQLite makes of them.
                    let values = row.filter { !["cid", "id", "seq"].contains($0.0) }.map { "\($0.1)" }
                    tables.insert("\(table) \(pragma) \(values.filter { !$0.contains("autoindex") })")
                }
            }
        }
    }

    private func damaged(_ name: String, _ cause: String) -> RestoreProblem {
        RestoreProblem("\(name) is damaged: \(cause); take another backup")
    }

    private func problem(_ error: any Error, _ name: String) -> RestoreProblem {
        if let error = error as? RestoreProblem { return error }
        guard let error = error as? DatabaseError else { return RestoreProblem("\(name) cannot be used: \(error)") }
        if let cause = DamageRecord.cause(of: error) { return damaged(name, cause) }
        return RestoreProblem("\(name) cannot be used: \(error.message ?? "\(error.resultCode)"); see the free space")
    }
}
