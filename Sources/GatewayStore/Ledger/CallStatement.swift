// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// A prepared statement that writes columns of a call; all parameters come from `CallColumn.all`.
struct CallStatement {
    /// Columns whose values are parameters in order: first the row's number.
    struct Values: Sendable {
        /// A closure in a structure is called without a thunk.
        private struct Value: Sendable { let bind: CallColumn.Binding }

        let names: [String]
        private let values: [Value]

        init(_ columns: [CallColumn]) {
            let columns = columns.filter { !$0.changes.contains(.returned) }
            names = columns.map(\.name)
            values = columns.map { Value(bind: $0.bind) }
        }

        /// Binds the values of a call to the parameters behind one.
        func bind(_ written: CallColumn.Written, to statement: LedgerStatement, after parameter: CInt = 0) {
            for place in values.indices {
                let index = parameter + CInt(place + 1)
                values[place].bind(written, LedgerStatement.Parameter(statement: statement, index: index))
            }
        }
    }

    /// The SQL of a statement that changes the columns of some changes.
    struct Form: Sendable {
        let sql: String
        let values: Values

        private init(_ changes: CallColumn.Changes) {
            values = Values(CallColumn.all.filter { $0.name == "id" || !$0.changes.isDisjoint(with: changes) })
            let places = values.names.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" }
            sql = "UPDATE call SET \(places.joined(separator: ", ")) WHERE id = ?1"
        }

        /// Most changes touch no indexed column.
        static let change = Form(.progress)
        static let end = Form([.progress, .end])
        static let retime = Form(.time)
        static let renumber = Form(.parties)
        static let correct = Form(.correction)
    }

    private static let row = Values(CallColumn.all)
    private static let rows = RowInsert(
        into: "call (\(row.names.joined(separator: ", ")))", parameters: row.names.count
    ) { _ in row.names.map { _ in "?" }.joined(separator: ",") }

    private let form: Form
    private let statement: LedgerStatement

    init(_ database: Database, _ form: Form) throws {
        self.form = form
        statement = try LedgerStatement(database, form.sql, lendsTexts: true)
    }

    /// Changes the row of a call.
    func run(_ written: CallColumn.Written) throws {
        form.values.bind(written, to: statement)
        try statement.run()
    }

    /// Adds the rows of calls.
    static func insert(_ calls: [CallColumn.Written], in database: Database) throws {
        try rows.run(calls.count, in: database, lendsTexts: true) { insert, places in
            for place in places { row.bind(calls[place], to: insert, after: rows.parameter(before: place)) }
            try insert.run()
        }
    }
}
