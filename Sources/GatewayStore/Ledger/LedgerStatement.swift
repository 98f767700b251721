// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Primitives

/// A prepared statement, bound and stepped without GRDB's argument boxes.
///
/// `StatementArguments` takes about 10 µs a statement, direct binding about 1.5 µs, and a call takes several.
/// Use it only inside the database access that made it.
struct LedgerStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer?
    /// Nil where SQLite makes copies of the texts. With them, all parameters are NULL after each run.
    private let texts: RowTexts?

    /// Prepares `sql`, or takes it from the connection's cache.
    ///
    /// - Parameter lendsTexts: spares the copies of texts; for a statement that returns no rows.
    init(_ database: Database, _ sql: String, lendsTexts: Bool = false) throws {
        handle = try database.cachedStatement(sql: sql).sqliteStatement
        connection = database.sqliteConnection
        texts = lendsTexts ? RowTexts() : nil
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds the parameter at `index` (from 1); nil binds NULL.
    func bind(_ index: CInt, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { bindNull(index) }
    }

    private func bindNull(_ index: CInt) {
        if texts == nil { sqlite3_bind_null(handle, index) }
    }

    func bind(_ index: CInt, _ value: Int?) { bind(index, value.map(Int64.init)) }

    /// A parameter of a statement, called with its value.
    struct Parameter {
        let statement: LedgerStatement
        let index: CInt

        func callAsFunction(_ value: Int64?) { statement.bind(index, value) }

        func callAsFunction(_ value: String?) { statement.bind(index, value) }
    }

    /// Binds a text.
    func bind(_ index: CInt, _ value: String?) {
        guard var value else { return bindNull(index) }
        value.withUTF8 { bind(index, UnsafeRawBufferPointer($0)) }
    }

    /// Binds bytes as a blob, of which SQLite makes a copy.
    func bind(_ index: CInt, blob: [UInt8]) {
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT
        blob.withUnsafeBytes { _ = sqlite3_bind_blob(handle, index, $0.baseAddress, CInt($0.count), copies) }
    }

    private func bind(_ index: CInt, _ bytes: UnsafeRawBufferPointer) {
        if let texts { return texts.add(bytes, at: index) }
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_text(handle, index, "", 0, nil)
            return
        }
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT
        sqlite3_bind_text(handle, index, start.assumingMemoryBound(to: CChar.self), CInt(bytes.count), copies)
    }

    /// Runs a statement that returns no rows and makes it ready for the next binding.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_FULL` when the disk is full.
    func run() throws {
        guard let texts else { return try step() }
        try texts.lend(to: handle, step)
    }

    /// Runs a statement that returns no rows with further texts, and makes all parameters NULL.
    ///
    /// - Parameter bytes: UTF-8, which SQLite reads in place.
    func run(lending bytes: TextBuffer, at places: [RowTexts.Place]) throws {
        try RowTexts.lend(bytes, at: places, to: handle, step)
    }

    private func step() throws {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw error(code) }
    }

    /// Steps to the next row; nil after the last, with the statement ready for the next binding.
    func row<Value>(_ read: (LedgerRow) -> Value) throws -> Value? {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return read(LedgerRow(handle: handle)) }
        sqlite3_reset(handle)
        guard code == SQLITE_DONE else { throw error(code) }
        return nil
    }

    /// Reads at most one row.
    func firstRow<Value>(_ read: (LedgerRow) -> Value) throws -> Value? {
        defer { sqlite3_reset(handle) }
        return try row(read)
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: connection.map { String(cString: sqlite3_errmsg($0)) })
    }
}

/// The current row of a statement; columns count from 0.
struct LedgerRow {
    fileprivate let handle: OpaquePointer

    func integer(_ column: CInt) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    func text(_ column: CInt) -> String? {
        sqlite3_column_text(handle, column).map { String(cString: $0) }
    }

    func bytes(_ column: CInt) -> [UInt8]? {
        guard let start = sqlite3_column_blob(handle, column) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
