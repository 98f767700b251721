// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// A query over a list of rows, which is its only argument and in its text the table `asked`.
struct SQLListQuery {
    /// The columns of the list; bytes are for PostgreSQL alone, because JSON has none.
    let columns: [SQLColumn]
    let rows: [[SQLValue]]
    /// The query around the expression of the list's table.
    let text: (_ table: String) -> String

    init(_ columns: [SQLColumn], _ rows: [[SQLValue]], _ text: @escaping (_ table: String) -> String) {
        (self.columns, self.rows, self.text) = (columns, rows, text)
    }

    /// The rows as a list of lists in JSON, which is one argument of a statement of SQLite.
    var json: String {
        var text = JSONText()
        text.list(rows) { row, text in text.list(row) { $1.value($0.json) } }
        return String(decoding: text.bytes, as: UTF8.self)
    }
}

extension SQLValue {
    fileprivate var json: JSONValue {
        switch self {
        case .null, .bytes: .null
        case .integer(let value): .int(Int(value))
        case .boolean(let value): .bool(value)
        case .text(let value): .string(value)
        }
    }
}

/// An insertion of rows into a table.
struct SQLInsertion {
    let table: String
    let columns: [SQLColumn]
    let rows: [[SQLValue]]
    /// The statement after the values, such as `ON CONFLICT DO NOTHING`.
    let ending: String

    init(into table: String, _ columns: [SQLColumn], _ rows: [[SQLValue]], _ ending: String = "") {
        (self.table, self.columns, self.rows, self.ending) = (table, columns, rows, ending)
    }

    /// The statement up to its values.
    var head: String { "INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))" }
}

extension SQLDialect {
    /// The table of a list that is the only argument of a statement.
    func list(_ columns: [SQLColumn]) -> String {
        switch self {
        case .sqlite:
            let values = columns.enumerated().map { "value ->> \($0) AS \($1.name)" }.joined(separator: ", ")
            return "(SELECT \(values) FROM json_each(?)) AS asked"
        case .postgreSQL:
            return "\(arrays(columns)) AS asked (\(columns.map(\.name).joined(separator: ", ")))"
        }
    }

    /// The arguments of a statement of PostgreSQL, an array for each column, as a table.
    func arrays(_ columns: [SQLColumn]) -> String {
        let places = columns.enumerated().map { "$\($0 + 1)::\($1.type.postgreSQLName)[]" }
        return "unnest(\(places.joined(separator: ", ")))"
    }
}
