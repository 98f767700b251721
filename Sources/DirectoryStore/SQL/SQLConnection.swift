// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A connection inside a transaction, for one thread at a time.
///
/// Statements are written once for both engines: `ON CONFLICT`, `RETURNING`, `IS DISTINCT FROM`, `TRUE`, windows, and
/// columns with the name of their table where an upsert could mean two. `SQLDialect` has the few differences.
protocol SQLConnection: AnyObject {
    var dialect: SQLDialect { get }

    /// The row of a counter that this program changes, so that programs do not wait for each other; 0 in SQLite.
    var shard: Int { get }

    /// Runs a query and gives each row to `body`; a row is valid until `body` returns.
    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Void) throws

    /// Runs a query and returns its rows.
    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]

    /// The first row, without a step to the next; nil without one.
    func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow?

    /// Runs a statement without rows.
    ///
    /// - Returns: the count of inserted, changed or removed rows.
    @discardableResult
    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int

    /// Runs queries over lists, on PostgreSQL in one round trip; returns the rows of each.
    func rows(_ queries: [SQLListQuery]) throws -> [[SQLRow]]

    /// Makes insertions, on PostgreSQL in one round trip.
    ///
    /// - Returns: the counts of inserted and changed rows.
    func insert(_ insertions: [SQLInsertion]) throws -> [Int]
}

/// The name and type of a column.
struct SQLColumn: Hashable, Sendable {
    let name: String
    let type: SQLType

    init(_ name: String, _ type: SQLType) {
        self.name = name
        self.type = type
    }
}

extension SQLConnection {
    func rows(_ sql: String) throws -> [SQLRow] { try rows(sql, []) }

    @discardableResult
    func execute(_ sql: String) throws -> Int { try execute(sql, []) }

    func row(_ sql: String) throws -> SQLRow? { try row(sql, []) }

    /// Inserts rows into a table; returns the count of inserted and changed rows.
    ///
    /// - Parameter ending: the statement after the values, such as `ON CONFLICT DO NOTHING`.
    func insert(
        into table: String, _ columns: [SQLColumn], _ rows: [[SQLValue]], _ ending: String
    ) throws -> Int {
        try insert([SQLInsertion(into: table, columns, rows, ending)]).reduce(0, +)
    }

    /// The first column of the first row; nil without a row, and for null.
    func value<Value: SQLConvertible>(
        _: Value.Type, _ sql: String, _ arguments: SQLArguments = []
    ) throws -> Value? {
        try row(sql, arguments).flatMap { $0[0] as Value? }
    }

    /// The first column of every row.
    func values<Value: SQLConvertible>(
        _: Value.Type, _ sql: String, _ arguments: SQLArguments = []
    ) throws -> [Value] {
        try rows(sql, arguments).map { $0[0] }
    }

    /// Creates an empty temporary table of this connection, in place of one with the same name.
    func makeTemporaryTable(_ name: String, _ columns: String) throws {
        switch dialect {
        case .sqlite:
            try dropTemporaryTable(name)
            try execute("CREATE TEMP TABLE \(name) (\(columns))")
        case .postgreSQL:
            // Tables that come and go would fill the server's catalogue.
            try execute("CREATE TEMP TABLE IF NOT EXISTS \(name) (\(columns))")
            try dropTemporaryTable(name)
        }
    }

    func dropTemporaryTable(_ name: String) throws {
        switch dialect {
        case .sqlite: try execute("DROP TABLE IF EXISTS temp.\(name)")
        case .postgreSQL: try execute("DELETE FROM pg_temp.\(name)")
        }
    }

    /// True if a query has a row.
    func exists(_ sql: String, _ arguments: SQLArguments = []) throws -> Bool { try row(sql, arguments) != nil }
}

/// The database engines, with what one statement cannot express for both.
enum SQLDialect: Hashable, Sendable, CaseIterable {
    case sqlite, postgreSQL

    /// The end of a query whose rows the transaction changes later: no other transaction changes them meanwhile.
    ///
    /// SQLite has one writer, so it needs no lock of a row.
    var lock: String { self == .sqlite ? "" : "FOR UPDATE" }

    /// The choice of an index for a table.
    ///
    /// SQLite has no statistics of this database and would read all numbers of an account.
    func index(_ name: String) -> String { self == .sqlite ? "INDEXED BY \(name)" : "" }

    /// The place of `text` in a column, counted from 1; 0 without it.
    func place(of text: String, in column: String) -> String {
        self == .sqlite ? "instr(\(column), '\(text)')" : "strpos(\(column), '\(text)')"
    }

    /// The first bytes of a column as hexadecimal digits.
    func digits(of column: String, bytes: Int) -> String {
        switch self {
        case .sqlite: "lower(hex(substr(\(column), 1, \(bytes))))"
        case .postgreSQL: "encode(substr(\(column), 1, \(bytes)), 'hex')"
        }
    }

    /// The name of a column's type; texts are ordered by bytes.
    func name(of type: SQLType) -> String {
        switch (self, type) {
        case (.sqlite, .integer), (.sqlite, .boolean): "INTEGER"
        case (.sqlite, .text): "TEXT"
        case (.sqlite, .bytes): "BLOB"
        case (.postgreSQL, .text): "text COLLATE \"C\""
        case (.postgreSQL, .integer), (.postgreSQL, .boolean), (.postgreSQL, .bytes): type.postgreSQLName
        }
    }
}

/// The guarantee that a transaction has beside others; SQLite runs one writer at a time and needs no choice.
enum SQLIsolation: Hashable, Sendable {
    /// As if no other transaction ran; a conflict repeats the transaction.
    case serial
    /// Each statement sees what is committed. The transaction locks the rows on which its decisions depend.
    case locked
}
