// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// A prepared statement that writes columns of a call; all parameters come from `CallColumn.all`.
struct CallStatement {
    /// The SQL of a statement, and the values of its parameters in order: first the row's number.
    struct Form: Sendable {
        let sql: String
        let values: [Value]

        /// A closure in a structure is called without a thunk.
        struct Value: Sendable { let bind: CallColumn.Binding }

        private init(_ columns: [CallColumn], _ sql: (_ names: [String]) -> String) {
            let columns = columns.filter { !$0.changes.contains(.returned) }
            values = columns.map { Value(bind: $0.bind) }
            self.sql = sql(columns.map(\.name))
        }

        /// Changes the columns of some changes.
        private init(_ changes: CallColumn.Changes) {
            let columns = CallColumn.all.filter { $0.name == "id" || !$0.changes.isDisjoint(with: changes) }
            self.init(columns) { names in
                let values = names.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" }
                return "UPDATE call SET \(values.joined(separator: ", ")) WHERE id = ?1"
            }
        }

        /// Adds a row.
        static let begin = Form(CallColumn.all) { names in
            let places = names.map { _ in "?" }
            return "INSERT INTO call (\(names.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
        }
        /// Most changes touch no indexed column.
        static let change = Form(.progress)
        static let end = Form([.progress, .end])
        static let retime = Form(.time)
        static let renumber = Form(.parties)
        static let correct = Form(.correction)
    }

    private let form: Form
    private let statement: LedgerStatement

    init(_ database: Database, _ form: Form) throws {
        self.form = form
        statement = try LedgerStatement(database, form.sql, lendsTexts: true)
    }

    /// Writes the row of a call.
    ///
    /// - Parameter subscriberKey: the first name under which it may be returned.
    func run(_ call: LedgerCall, subscriberKey: String? = nil) throws {
        let written = CallColumn.Written(call: call, record: call.machine.record, subscriberKey: subscriberKey)
        for place in form.values.indices {
            form.values[place].bind(written, LedgerStatement.Parameter(statement: statement, index: CInt(place + 1)))
        }
        try statement.run()
    }
}
