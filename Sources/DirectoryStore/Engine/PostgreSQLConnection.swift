// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL

/// Statements on a session of PostgreSQL, inside a transaction.
final class PostgreSQLConnection: SQLConnection {
    let session: PostgreSQLSession
    private let statements: PortableStatements
    let shard: Int

    init(_ session: PostgreSQLSession, _ statements: PortableStatements, shard: Int) {
        self.session = session
        self.statements = statements
        self.shard = shard
    }

    var dialect: SQLDialect { .postgreSQL }

    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Void) throws {
        let table = SQLTable(try run(sql, arguments))
        for place in 0..<table.rows.count { try body(SQLRow(table, place)) }
    }

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        SQLTable(try run(sql, arguments)).all
    }

    func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? { try rows(sql, arguments).first }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int { try run(sql, arguments).affected }

    func insert(
        into table: String, _ columns: [SQLColumn], _ rows: [[SQLValue]], _ ending: String
    ) throws -> Int {
        let command = insertion(into: table, columns, rows, ending)
        return try session.execute(command.sql, command.values).affected
    }

    /// An insertion of rows in one statement.
    func insertion(
        into table: String, _ columns: [SQLColumn], _ rows: [[SQLValue]], _ ending: String
    ) -> PostgreSQLCommand {
        let names = columns.map(\.name).joined(separator: ", ")
        let places = columns.enumerated().map { "$\($0 + 1)::\($1.type.postgreSQLName)[]" }.joined(separator: ", ")
        let arrays = columns.enumerated().map { place, column in column.type.array(rows.lazy.map { $0[place] }) }
        return PostgreSQLCommand(
            "INSERT INTO \(table) (\(names)) SELECT * FROM unnest(\(places)) \(ending)", arrays)
    }

    /// The rows of a statement in PostgreSQL's own form.
    func query(_ sql: String, _ values: [PostgreSQLValue]) throws -> [SQLRow] {
        SQLTable(try session.execute(sql, values)).all
    }

    /// The rows of several statements, in one round trip.
    func query(_ commands: [PostgreSQLCommand]) throws -> [[SQLRow]] {
        try session.run(commands).map { SQLTable($0).all }
    }

    private func run(_ sql: String, _ arguments: SQLArguments) throws -> PostgreSQLRows {
        let statement = statements.statement(sql, arguments)
        return try session.execute(statement.text, statement.values(arguments))
    }
}

extension SQLType {
    /// The values of a column as one argument.
    func array(_ values: some Sequence<SQLValue>) -> PostgreSQLValue {
        switch self {
        case .integer: .integers(values.map { if case .integer(let value) = $0 { value } else { nil } })
        case .boolean: .flags(values.map { if case .boolean(let value) = $0 { value } else { nil } })
        case .text: .texts(values.map { if case .text(let value) = $0 { value } else { nil } })
        case .bytes: .byteStrings(values.map { if case .bytes(let value) = $0 { [UInt8](value) } else { nil } })
        }
    }
}
