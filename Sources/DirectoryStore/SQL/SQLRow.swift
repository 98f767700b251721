// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import PostgreSQL

/// A row of a query.
///
/// A column of another type than the statement promises is a fault of the statement and ends the program.
struct SQLRow {
    private enum Storage {
        case sqlite(Row)
        case postgreSQL(SQLTable, PostgreSQLRow)
    }

    private let storage: Storage

    init(_ row: Row) { storage = .sqlite(row) }

    init(_ table: SQLTable, _ place: Int) { storage = .postgreSQL(table, table.rows[place]) }

    subscript<Value: SQLConvertible>(column: Int) -> Value { Value.read(self, column) }

    subscript<Value: SQLConvertible>(column: Int) -> Value? {
        isNull(column) ? nil : Value.read(self, column)
    }

    subscript<Value: SQLConvertible>(name: String) -> Value { Value.read(self, place(of: name)) }

    subscript<Value: SQLConvertible>(name: String) -> Value? {
        let column = place(of: name)
        return isNull(column) ? nil : Value.read(self, column)
    }

    /// The count of columns.
    var count: Int {
        switch storage {
        case .sqlite(let row): row.count
        case .postgreSQL(let table, _): table.columns
        }
    }

    /// The value of a column as text; nil for null.
    func printed(_ column: Int) -> String? {
        switch storage {
        case .sqlite(let row):
            let value: DatabaseValue = row[column]
            return value.storage.value.map { "\($0)" }
        case .postgreSQL(_, let row):
            if row.isNull(column) { return nil }
            if let text = try? row.text(column) { return text }
            if let number = try? row.integer(column) { return "\(number)" }
            return (try? row.bytes(column)).flatMap { $0 }.map { "\(Data($0))" }
        }
    }

    func isNull(_ column: Int) -> Bool {
        switch storage {
        case .sqlite(let row): row.hasNull(atIndex: column)
        case .postgreSQL(_, let row): row.isNull(column)
        }
    }

    func integer(_ column: Int) -> Int64 {
        switch storage {
        case .sqlite(let row): row[column]
        case .postgreSQL(_, let row): Self.expected(try? row.integer(column), column)
        }
    }

    func boolean(_ column: Int) -> Bool {
        switch storage {
        case .sqlite(let row): row[column]
        case .postgreSQL(_, let row): Self.expected(try? row.flag(column), column)
        }
    }

    func text(_ column: Int) -> String {
        switch storage {
        case .sqlite(let row): row[column]
        case .postgreSQL(_, let row): Self.expected(try? row.text(column), column)
        }
    }

    func bytes(_ column: Int) -> Data {
        switch storage {
        case .sqlite(let row): row[column]
        case .postgreSQL(_, let row): Self.expected(try? row.withBytes(column) { Data($0) }, column)
        }
    }

    private static func expected<Value>(_ value: Value?, _ column: Int) -> Value {
        guard let value else { preconditionFailure("column \(column) has another type") }
        return value
    }

    private func place(of name: String) -> Int {
        switch storage {
        case .sqlite(let row):
            for (place, column) in row.columnNames.enumerated() where column == name { return place }
        case .postgreSQL(let table, _):
            if let place = table.place(of: name) { return place }
        }
        preconditionFailure("no column \(name)")
    }
}

extension SQLTable {
    /// The rows in their order.
    var all: [SQLRow] { (0..<rows.count).map { SQLRow(self, $0) } }
}
