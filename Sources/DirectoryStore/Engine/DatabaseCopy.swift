// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc

/// Copies a directory from its SQLite file into an empty PostgreSQL database, in one transaction.
///
/// Change numbers and epochs are copied, so clients go on from their cursors. The server of the folder must be stopped,
/// because nothing that it stores after the start of the copy is in it.
package struct DatabaseCopy: Sendable {
    private let source: SQLiteFile
    private let target: PostgreSQLServer

    /// Rows of one statement.
    private static let batchSize = 1_000
    /// Chunks and logos of one statement; each can have half a megabyte.
    private static let blobBatchSize = 8

    /// - Parameters:
    ///   - folder: the state folder with `directory.sqlite`, which is migrated if it is older.
    ///   - server: the server; its database has no table yet, or only empty ones.
    /// - Throws: `DirectoryDatabaseError`.
    package init(from folder: String, to server: DatabaseServer) throws(DirectoryDatabaseError) {
        source = try SQLiteFile(folder: folder, creates: false)
        target = try PostgreSQLServer(server, folder: folder, creates: false)
    }

    /// Copies all rows, logos and uploads.
    ///
    /// - Parameter onProgress: called with each table and the count of its rows so far.
    /// - Returns: the count of rows by table.
    /// - Throws: `DatabaseCopyError`, or an error of one of the databases, without any change of the target.
    package func run(
        _ onProgress: (_ table: String, _ rows: Int) -> Void = { _, _ in }
    ) throws -> [(table: String, rows: Int)] {
        var counts: [(table: String, rows: Int)] = []
        try source.database.read { source in
            try target.store.session { session in
                try session.transaction(writes: true) {
                    counts = []
                    let target = session.connection
                    try empty(target)
                    for table in DirectorySchema.tables {
                        let count = try copy(table, from: source, to: target) { onProgress(table.name, $0) }
                        counts.append((table.name, count))
                    }
                    counts.append(("blob", try copyBytes(from: source, to: target)))
                    for table in DirectorySchema.tables where table.numbered != nil {
                        try target.execute(
                            """
                            SELECT setval(pg_get_serial_sequence('\(table.name)', 'id'),
                                (SELECT coalesce(max(id), 0) + 1 FROM \(table.name)), false)
                            """)
                    }
                    return true
                }
            }
        }
        return counts
    }

    /// Removes the account of an empty database.
    private func empty(_ target: any SQLConnection) throws {
        for table in DirectorySchema.tables.map(\.name) where !["account", "feed_head"].contains(table) {
            if try target.exists("SELECT 1 FROM \(table) LIMIT 1") {
                throw DatabaseCopyError(server: self.target.store.place, table: table)
            }
        }
        guard try target.value(Int.self, "SELECT count(*) FROM account") == 1 else {
            throw DatabaseCopyError(server: self.target.store.place, table: "account")
        }
        try target.execute("DELETE FROM feed_head")
        try target.execute("DELETE FROM account")
    }

    private func copy(
        _ table: SchemaTable, from source: Database, to target: any SQLConnection, _ onProgress: (Int) -> Void
    ) throws -> Int {
        let columns = table.columns.map { SQLColumn($0.name, $0.type) }
        let names = columns.map(\.name).joined(separator: ", ")
        let rows = try Row.fetchCursor(source, sql: "SELECT \(names) FROM \(table.name)")
        var (batch, count) = ([[SQLValue]](), 0)
        func flush() throws {
            if batch.isEmpty { return }
            count += try target.insert(into: table.name, columns, batch, "")
            batch.removeAll(keepingCapacity: true)
            onProgress(count)
        }
        while let row = try rows.next() {
            batch.append(columns.indices.map { Self.value(row, $0, columns[$0].type) })
            if batch.count == Self.batchSize { try flush() }
        }
        try flush()
        return count
    }

    private static func value(_ row: Row, _ column: Int, _ type: SQLType) -> SQLValue {
        if row.hasNull(atIndex: column) { return .null(type) }
        return switch type {
        case .integer: .integer(row[column])
        case .boolean: .boolean(row[column])
        case .text: .text(row[column])
        case .bytes: .bytes(row[column])
        }
    }

    /// Copies the files of logos and uploads that have a row.
    private func copyBytes(from source: Database, to target: any SQLConnection) throws -> Int {
        let columns = [SQLColumn("hash", .text), SQLColumn("part", .integer), SQLColumn("bytes", .bytes)]
        var (batch, count) = ([[SQLValue]](), 0)
        func add(_ hash: String, _ part: Int, _ data: Data) throws {
            batch.append([.text(hash), .integer(Int64(part)), .bytes(data)])
            if batch.count == Self.blobBatchSize { try flush() }
        }
        func flush() throws {
            if batch.isEmpty { return }
            count += try target.insert(into: "blob", columns, batch, "ON CONFLICT (hash, part) DO NOTHING")
            batch.removeAll()
        }
        for hash in try String.fetchAll(source, sql: "SELECT DISTINCT hash FROM logo") {
            let path = self.source.folder + "/logos/" + hash
            if let data = FileManager.default.contents(atPath: path) { try add(hash, 0, data) }
        }
        for row in try Row.fetchAll(
            source, sql: "SELECT upload, number FROM upload_chunk ORDER BY upload, number")
        {
            let (upload, number): (String, Int) = (row[0], row[1])
            if let data = try chunk(number, of: upload) { try add(upload, number, data) }
        }
        try flush()
        return count
    }

    private func chunk(_ number: Int, of upload: String) throws -> Data? {
        let path = UploadFile(source.folder, upload).path
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        try file.seek(toOffset: UInt64((number - 1) * UploadLimits.chunkSize))
        return try file.read(upToCount: UploadLimits.chunkSize)
    }
}

/// The database of a copy is in use.
package struct DatabaseCopyError: OperatorError, Hashable {
    let server: String
    let table: String

    package var kind: OperatorMistakeKind { .conflict }

    package var description: String {
        """
        the database \(server) is not empty: its table \(table) has rows; create another one with createdb, or drop \
        this one first
        """
    }
}
