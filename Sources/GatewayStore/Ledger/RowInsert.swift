// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Statements that add up to eight rows to a table.
///
/// SQLite opens the table and each of its indexes for every statement, and looks for the place of every first row.
/// That is a third of the instructions of a statement with one row.
struct RowInsert: Sendable {
    /// Most rows of a statement.
    private static let most = 8

    /// Parameters of a row.
    private let parameters: Int
    /// By the number of rows, one row first.
    private let statements: [String]

    /// - Parameters:
    ///   - target: the table and its columns.
    ///   - parameters: the number of parameters of a row.
    ///   - values: the values of a row by the number of the parameter before its first one.
    init(into target: String, parameters: Int, _ values: (_ before: Int) -> String) {
        self.parameters = parameters
        statements = (1...Self.most).map { count in
            let rows = (0..<count).map { "(\(values($0 * parameters)))" }
            return "INSERT INTO \(target) VALUES \(rows.joined(separator: ","))"
        }
    }

    /// The number of the parameter before the first one of a row.
    func parameter(before place: Int) -> CInt { CInt(place % Self.most * parameters) }

    /// Passes the statements for `count` rows to `run`, each with the places of its rows.
    func run(
        _ count: Int, in database: Database, lendsTexts: Bool = false,
        _ run: (LedgerStatement, Range<Int>) throws -> Void
    ) throws {
        let whole = count - count % Self.most
        for rows in [0..<whole, whole..<count] where !rows.isEmpty {
            let size = min(rows.count, Self.most)
            let insert = try LedgerStatement(database, statements[size - 1], lendsTexts: lendsTexts)
            for start in stride(from: rows.lowerBound, to: rows.upperBound, by: size) {
                try run(insert, start..<start + size)
            }
        }
    }
}
