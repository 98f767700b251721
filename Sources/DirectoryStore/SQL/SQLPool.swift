// SPDX-License-Identifier: Apache-2.0

/// The connections to one database; thread-safe.
///
/// A write may run more than once, so it changes nothing but the database and values that a second run replaces.
protocol SQLPool: AnyObject, Sendable {
    var dialect: SQLDialect { get }

    /// Reads one state of the database.
    func read<Value: Sendable>(_ work: @Sendable (any SQLConnection) throws -> Value) throws -> Value

    /// Reads one state of the database on a thread that may wait.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Reads on a thread that may wait; each statement sees what is committed when it runs.
    ///
    /// It saves PostgreSQL the round trip that ends a transaction. The work may run more than once.
    func readEach<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Writes in one transaction.
    @discardableResult
    func write<Value: Sendable>(
        _ isolation: SQLIsolation, _ work: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value

    /// Writes in one transaction on a thread that may wait.
    @discardableResult
    func write<Value: Sendable>(
        _ isolation: SQLIsolation, _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// A view of the present state that later writes do not change, on a connection of its own.
    ///
    /// - Throws: `StoreError.busy` if too many are open, or a database error.
    func snapshot() throws -> any SQLSnapshot

    /// Runs several transactions on one connection of its own, which keeps its temporary tables.
    func session<Value>(_ work: (any SQLSession) throws -> Value) throws -> Value

    /// Runs small writes on a thread that may wait, one call after another; `work` runs the transactions.
    func group(_ work: @escaping @Sendable (any SQLSession) -> Void)
}

/// A state of the database that does not change.
protocol SQLSnapshot: AnyObject, Sendable {
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value
}

/// One connection between transactions.
protocol SQLSession: AnyObject {
    var connection: any SQLConnection { get }

    /// Runs a transaction; `work` returns false to undo it.
    ///
    /// - Parameter writes: false for a transaction that changes temporary tables only.
    func transaction(writes: Bool, _ work: () throws -> Bool) throws
}

extension SQLPool {
    @discardableResult
    func write<Value: Sendable>(_ work: @Sendable (any SQLConnection) throws -> Value) throws -> Value {
        try write(.serial, work)
    }

    @discardableResult
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await write(.serial, work)
    }

    /// Changes the brands or numbers of an account; no other change of its feed runs at the same time.
    ///
    /// The lock comes first. A change that reads before it locks can give a number twice, and a reader could miss it.
    @discardableResult
    func writeFeed<Value: Sendable>(of account: AccountID, _ work: @Sendable (any SQLConnection) throws -> Value) throws
        -> Value
    {
        try write(.locked) { database in
            _ = try ChangeCounter.lock(account, database)
            return try work(database)
        }
    }
}
