// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import GRDB

/// The connections to the SQLite file: many readers and one writer, through GRDB.
final class SQLitePool: SQLPool {
    let pool: DatabasePool
    /// Opens a connection for long work, so that the pool's writer waits for its last step only.
    private let opened: @Sendable () throws -> DatabaseQueue

    private let damage: DamageRecord

    init(_ pool: DatabasePool, _ damage: DamageRecord, opened: @escaping @Sendable () throws -> DatabaseQueue) {
        self.pool = pool
        self.damage = damage
        self.opened = opened
    }

    var dialect: SQLDialect { .sqlite }

    func read<Value: Sendable>(_ work: @Sendable (any SQLConnection) throws -> Value) throws -> Value {
        try damage.watching { try pool.read { try work(SQLiteConnection($0)) } }
    }

    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching { try await pool.read { try work(SQLiteConnection($0)) } }
    }

    func readEach<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await read(work)
    }

    func write<Value: Sendable>(
        _: SQLIsolation, _ work: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try damage.watching { try pool.write { try work(SQLiteConnection($0)) } }
    }

    func write<Value: Sendable>(
        _: SQLIsolation, _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching { try await pool.write { try work(SQLiteConnection($0)) } }
    }

    func snapshot() throws -> any SQLSnapshot {
        SQLiteSnapshot(try damage.watching { try pool.makeSnapshot() }, damage)
    }

    func session<Value>(_ work: (any SQLSession) throws -> Value) throws -> Value {
        try damage.watching { try opened().inDatabase { try work(SQLiteSession($0, damage, beside: pool)) } }
    }

    func group(_ work: @escaping @Sendable (any SQLSession) -> Void) {
        pool.asyncWriteWithoutTransaction { [damage] in work(SQLiteSession($0, damage)) }
    }
}

/// A snapshot of the SQLite file.
private final class SQLiteSnapshot: SQLSnapshot {
    private let snapshot: DatabaseSnapshot
    private let damage: DamageRecord

    init(_ snapshot: DatabaseSnapshot, _ damage: DamageRecord) { (self.snapshot, self.damage) = (snapshot, damage) }

    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching { try await snapshot.read { try work(SQLiteConnection($0)) } }
    }
}

/// A connection to the SQLite file between its transactions.
private final class SQLiteSession: SQLSession {
    private let database: Database
    private let damage: DamageRecord
    /// The pool of a session with a connection of its own.
    private let pool: DatabasePool?
    let connection: any SQLConnection

    init(_ database: Database, _ damage: DamageRecord, beside pool: DatabasePool? = nil) {
        self.database = database
        self.damage = damage
        self.pool = pool
        connection = SQLiteConnection(database)
    }

    func transaction(writes: Bool, _ work: () throws -> Bool) throws {
        func transact() throws {
            try damage.watching {
                try database.inTransaction(writes ? .immediate : .deferred) { try work() ? .commit : .rollback }
            }
        }
        guard writes, let pool else { return try transact() }
        // The pool's writer has a queue that serves each writer in order. SQLite's lock has no queue.
        try pool.writeWithoutTransaction { _ in try transact() }
    }
}

/// Statements on a connection of GRDB, which keeps them prepared.
final class SQLiteConnection: SQLConnection {
    let database: Database

    init(_ database: Database) { self.database = database }

    var dialect: SQLDialect { .sqlite }

    var shard: Int { 0 }

    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Void) throws {
        let statement = try database.cachedStatement(sql: sql)
        let rows = try Row.fetchCursor(statement, arguments: arguments.forSQLite)
        while let row = try rows.next() { try body(SQLRow(row)) }
    }

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        let statement = try database.cachedStatement(sql: sql)
        return try Row.fetchAll(statement, arguments: arguments.forSQLite).map { SQLRow($0) }
    }

    func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? {
        let statement = try database.cachedStatement(sql: sql)
        return try Row.fetchOne(statement, arguments: arguments.forSQLite).map { SQLRow($0) }
    }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try database.cachedStatement(sql: sql).execute(arguments: arguments.forSQLite)
        return database.changesCount
    }

    func rows(_ queries: [SQLListQuery]) throws -> [[SQLRow]] {
        try queries.map { query in
            query.rows.isEmpty ? [] : try rows(query.text(dialect.list(query.columns)), [query.json])
        }
    }

    func insert(_ insertions: [SQLInsertion]) throws -> [Int] {
        try insertions.map { insertion in
            let places = repeatElement("?", count: insertion.columns.count).joined(separator: ", ")
            let statement = try database.cachedStatement(
                sql: "\(insertion.head) VALUES (\(places)) \(insertion.ending)")
            var count = 0
            for row in insertion.rows {
                try statement.execute(arguments: SQLArguments(row).forSQLite)
                count += database.changesCount
            }
            return count
        }
    }
}

extension SQLArguments {
    fileprivate var forSQLite: StatementArguments {
        if named.isEmpty { return StatementArguments(positional.map(\.forSQLite)) }
        return StatementArguments(named.mapValues(\.forSQLite))
    }
}

extension SQLValue {
    fileprivate var forSQLite: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .boolean(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .bytes(let value): value.databaseValue
        }
    }
}
