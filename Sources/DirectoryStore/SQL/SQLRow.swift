// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// A row of a query.
struct SQLRow {
    enum Storage {
        case sqlite(Row)
    }

    let storage: Storage

    init(_ row: Row) { storage = .sqlite(row) }

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
        }
    }

    /// The value of a column as text; nil for null.
    func printed(_ column: Int) -> String? {
        switch storage {
        case .sqlite(let row):
            let value: DatabaseValue = row[column]
            return value.storage.value.map { "\($0)" }
        }
    }

    func isNull(_ column: Int) -> Bool {
        switch storage {
        case .sqlite(let row): row.hasNull(atIndex: column)
        }
    }

    func integer(_ column: Int) -> Int64 {
        switch storage {
        case .sqlite(let row): row[column]
        }
    }

    func boolean(_ column: Int) -> Bool {
        switch storage {
        case .sqlite(let row): row[column]
        }
    }

    func text(_ column: Int) -> String {
        switch storage {
        case .sqlite(let row): row[column]
        }
    }

    func bytes(_ column: Int) -> Data {
        switch storage {
        case .sqlite(let row): row[column]
        }
    }

    private func place(of name: String) -> Int {
        switch storage {
        case .sqlite(let row):
            for (place, column) in row.columnNames.enumerated() where column == name { return place }
        }
        preconditionFailure("no column \(name)")
    }
}
