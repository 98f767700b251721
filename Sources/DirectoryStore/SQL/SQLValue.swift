// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value of a statement's argument or of a column.
///
/// Null has a type, because PostgreSQL has to know the type of every argument.
enum SQLValue: Hashable, Sendable {
    case null(SQLType)
    case integer(Int64)
    case boolean(Bool)
    case text(String)
    case bytes(Data)

    var type: SQLType {
        switch self {
        case .null(let type): type
        case .integer: .integer
        case .boolean: .boolean
        case .text: .text
        case .bytes: .bytes
        }
    }
}

/// The types of columns.
enum SQLType: Hashable, Sendable {
    /// 64 bits, signed.
    case integer
    /// 0 and 1 in SQLite.
    case boolean
    /// UTF-8, ordered by its bytes.
    case text
    case bytes
}

/// A type of Swift that a column can have.
protocol SQLConvertible: Sendable {
    static var sqlType: SQLType { get }
    var sqlValue: SQLValue { get }
    /// Reads a column that is not null.
    ///
    /// A value of another type is a fault of the statement and ends the program.
    static func read(_ row: SQLRow, _ column: Int) -> Self
}

extension Int64: SQLConvertible {
    static var sqlType: SQLType { .integer }
    var sqlValue: SQLValue { .integer(self) }
    static func read(_ row: SQLRow, _ column: Int) -> Int64 { row.integer(column) }
}

extension Int: SQLConvertible {
    static var sqlType: SQLType { .integer }
    var sqlValue: SQLValue { .integer(Int64(self)) }
    static func read(_ row: SQLRow, _ column: Int) -> Int { Int(row.integer(column)) }
}

extension Bool: SQLConvertible {
    static var sqlType: SQLType { .boolean }
    var sqlValue: SQLValue { .boolean(self) }
    static func read(_ row: SQLRow, _ column: Int) -> Bool { row.boolean(column) }
}

extension String: SQLConvertible {
    static var sqlType: SQLType { .text }
    var sqlValue: SQLValue { .text(self) }
    static func read(_ row: SQLRow, _ column: Int) -> String { row.text(column) }
}

extension Data: SQLConvertible {
    static var sqlType: SQLType { .bytes }
    var sqlValue: SQLValue { .bytes(self) }
    static func read(_ row: SQLRow, _ column: Int) -> Data { row.bytes(column) }
}

/// A value or null.
protocol SQLArgument {
    var sqlArgument: SQLValue { get }
}

extension SQLConvertible {
    var sqlArgument: SQLValue { sqlValue }
}

extension Int64: SQLArgument {}
extension Int: SQLArgument {}
extension Bool: SQLArgument {}
extension String: SQLArgument {}
extension Data: SQLArgument {}

extension Optional: SQLArgument where Wrapped: SQLConvertible {
    var sqlArgument: SQLValue { self?.sqlValue ?? .null(Wrapped.sqlType) }
}

/// The arguments of a statement: for `?` in order, for `?1` by number, for `:name` by name.
struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    var positional: [SQLValue] = []
    var named: [String: SQLValue] = [:]

    init() {}

    init(_ values: [SQLValue]) { positional = values }

    init(arrayLiteral elements: any SQLArgument...) { positional = elements.map(\.sqlArgument) }

    init(dictionaryLiteral elements: (String, any SQLArgument)...) {
        for (name, value) in elements { named[name] = value.sqlArgument }
    }
}
