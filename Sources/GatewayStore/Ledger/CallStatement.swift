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
            // A span lends the closures; the array would count their references.
            let values = values.span
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

        /// - Parameter isUsual: true for calls without a value in any rare column. SQLite reads each column that a statement
        ///   does not set, so all rare ones are set to NULL.
        private init(_ changes: CallColumn.Changes, isUsual: Bool = false) {
            let rare = isUsual ? CallColumn.own.filter(\.isRare).map(\.name) : []
            values = Values(
                CallColumn.own.filter { column in
                    column.name == "id" || !column.changes.isDisjoint(with: changes) && !rare.contains(column.name)
                })
            let places =
                values.names.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" } + rare.map { "\($0) = NULL" }
            sql = "UPDATE call SET \(places.joined(separator: ", ")) WHERE id = ?1"
        }

        /// Most changes touch no indexed column.
        static let change = Form(.progress)
        static let usualChange = Form(.progress, isUsual: true)
        static let end = Form([.progress, .end])
        static let usualEnd = Form([.progress, .end], isUsual: true)
        static let retime = Form(.time)
        static let renumber = Form(.parties)
        static let correct = Form(.correction)
    }

    /// The rows of calls with some columns.
    private struct Rows: Sendable {
        private let values: Values
        private let insert: RowInsert

        /// - Parameters:
        ///   - table: the table and its column with the row of the call.
        ///   - columns: the other columns.
        ///   - replaces: whether the row of a call that was deleted by hand may be there.
        init(_ table: String, _ row: String, _ columns: [CallColumn], replaces: Bool = false) {
            let values = Values([CallColumn.all[0]] + columns)
            self.values = values
            let target = "\(table) (\(([row] + values.names.dropFirst()).joined(separator: ", ")))"
            let replacement = columns.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
            insert = RowInsert(
                into: target, parameters: values.names.count,
                onConflict: replaces ? "ON CONFLICT DO UPDATE SET \(replacement)" : ""
            ) { _ in
                values.names.map { _ in "?" }.joined(separator: ",")
            }
        }

        func store(_ calls: [CallColumn.Written], in database: Database) throws {
            try insert.run(calls.count, in: database, lendsTexts: true) { statement, places in
                for place in places {
                    let before = insert.parameter(before: place - places.lowerBound)
                    values.bind(calls[place], to: statement, after: before)
                }
                try statement.run()
            }
        }

        static let usual = Rows("call", "id", CallColumn.own.dropFirst().filter { !$0.isRare })
        static let whole = Rows("call", "id", Array(CallColumn.own.dropFirst()))
        static let signatures = Rows("call_signature", "call", CallColumn.ofSignature, replaces: true)
    }

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

    /// Changes rows by what has changed of their calls, in one transaction.
    struct Updates: ~Copyable {
        private let database: Database
        /// Prepared when they are needed: for calls in progress and ended ones, each usual or not.
        private var statements: [CallStatement?] = [nil, nil, nil, nil]

        init(_ database: Database) { self.database = database }

        /// Changes the row of a call.
        mutating func run(_ written: CallColumn.Written) throws {
            let (isEnded, isUsual) = (written.record.endedAt != nil, written.isUsual)
            let place = (isEnded ? 2 : 0) + (isUsual ? 1 : 0)
            let statement = try statements[place] ?? CallStatement(database, Self.forms[place])
            statements[place] = statement
            try statement.run(written)
        }

        private static let forms: [Form] = [.change, .usualChange, .end, .usualEnd]
    }

    /// Adds the rows of calls.
    static func insert(_ calls: [CallColumn.Written], in database: Database) throws {
        let others = calls.filter { !$0.isUsual }
        try Rows.usual.store(others.isEmpty ? calls : calls.filter(\.isUsual), in: database)
        try Rows.whole.store(others, in: database)
        if !others.isEmpty { try Rows.signatures.store(others.filter(\.isSigned), in: database) }
    }
}
