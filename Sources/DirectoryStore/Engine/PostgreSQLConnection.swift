// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL

/// Statements on a session of PostgreSQL, inside a transaction.
final class PostgreSQLConnection: SQLConnection {
    private let session: PostgreSQLSession
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

    func rows(_ queries: [SQLListQuery]) throws -> [[SQLRow]] {
        try session.run(
            queries.map { query in
                PostgreSQLCommand(
                    query.text(dialect.list(query.columns)), Self.arrays(query.columns, query.rows))
            }
        ).map { SQLTable($0).all }
    }

    func insert(_ insertions: [SQLInsertion]) throws -> [Int] {
        try session.run(
            insertions.map { insertion in
                PostgreSQLCommand(
                    "\(insertion.head) SELECT * FROM \(dialect.arrays(insertion.columns)) \(insertion.ending)",
                    Self.arrays(insertion.columns, insertion.rows))
            }
        ).map(\.affected)
    }

    /// The values of each column as one argument.
    private static func arrays(_ columns: [SQLColumn], _ rows: [[SQLValue]]) -> [PostgreSQLValue] {
        columns.enumerated().map { place, column in column.type.array(rows.lazy.map { $0[place] }) }
    }

    private func run(_ sql: String, _ arguments: SQLArguments) throws -> PostgreSQLRows {
        let statement = statements.statement(sql, arguments)
        return try session.execute(statement.text, statement.values(arguments))
    }
}

extension SQLType {
    fileprivate func array(_ values: some Sequence<SQLValue>) -> PostgreSQLValue {
        switch self {
        case .integer: .integers(values.map { if case .integer(let value) = $0 { value } else { nil } })
        case .boolean: .flags(values.map { if case .boolean(let value) = $0 { value } else { nil } })
        case .text: .texts(values.map { if case .text(let value) = $0 { value } else { nil } })
        case .bytes: .byteStrings(values.map { if case .bytes(let value) = $0 { [UInt8](value) } else { nil } })
        }
    }
}
