// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Statements that add up to 32 rows to a table.
///
/// SQLite opens the table and each of its indexes for every statement, and looks for the place of every first row.
/// That is a third of the instructions of a statement with one row.
struct RowInsert: Sendable {
    /// Parameters of a row.
    private let parameters: Int
    /// By falling number of rows; nine of them serve every number.
    private let statements: [(rows: Int, sql: String)]

    /// - Parameters:
    ///   - target: the table and its columns.
    ///   - parameters: the number of parameters of a row.
    ///   - onConflict: the clause for rows that are there; empty for an error.
    ///   - values: the values of a row by the number of the parameter before its first one.
    init(into target: String, parameters: Int, onConflict: String = "", _ values: (_ before: Int) -> String) {
        self.parameters = parameters
        let end = onConflict.isEmpty ? "" : " " + onConflict
        statements = [32, 8, 7, 6, 5, 4, 3, 2, 1].map { count in
            let rows = (0..<count).map { "(\(values($0 * parameters)))" }
            return (count, "INSERT INTO \(target) VALUES \(rows.joined(separator: ","))\(end)")
        }
    }

    /// The number of the parameter before the first one of a statement's row, from 0.
    func parameter(before row: Int) -> CInt { CInt(row * parameters) }

    /// Passes the statements for `count` rows to `run`, each with the places of its rows.
    func run(
        _ count: Int, in database: Database, lendsTexts: Bool = false,
        _ run: (LedgerStatement, Range<Int>) throws -> Void
    ) throws {
        var start = 0
        for (rows, sql) in statements where count - start >= rows {
            let insert = try LedgerStatement(database, sql, lendsTexts: lendsTexts)
            while count - start >= rows {
                try run(insert, start..<start + rows)
                start += rows
            }
        }
    }
}
