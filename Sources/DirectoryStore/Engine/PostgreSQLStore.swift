// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import Synchronization

/// The sessions with one PostgreSQL server: a pool for requests, one for shared commits, others for long work.
final class PostgreSQLStore: SQLPool {
    private let pool: PostgreSQLPool
    private let address: PostgreSQLAddress
    private let statements = PortableStatements()
    private let damage: DamageRecord
    private let commits: PostgreSQLLane
    /// Snapshots that are open.
    private let snapshots = Mutex(0)
    private let mostSnapshots: Int
    /// The row of a counter that this process changes.
    ///
    /// Processes with the same number wait for each other, and lose nothing.
    private let shard = Int.random(in: 0..<64)

    /// Longest wait for a statement of a request; the merge of a long import holds the feed of its account.
    static let requestLimit = Duration.seconds(90)
    /// Longest wait for a statement of an import or a copy.
    static let longLimit = Duration.seconds(3_600)

    /// - Parameters:
    ///   - sessions: most connections for requests.
    ///   - snapshots: most connections for long responses, each for the time of one response.
    init(_ address: PostgreSQLAddress, _ damage: DamageRecord, sessions: Int, snapshots: Int) {
        self.address = address
        self.damage = damage
        mostSnapshots = snapshots
        pool = PostgreSQLPool(
            address, sessions: sessions, application: Self.application, timeLimit: Self.requestLimit)
        commits = PostgreSQLLane(address, application: Self.application, timeLimit: Self.requestLimit)
    }

    static let application = "herald-directory"

    var dialect: SQLDialect { .postgreSQL }

    /// The server as in error texts, without a password.
    var place: String { address.description }

    func read<Value: Sendable>(_ work: @Sendable (any SQLConnection) throws -> Value) throws -> Value {
        try damage.watching {
            try pool.runBlocking { [statements, shard] session in
                try session.transaction(.readOnly) { try work(PostgreSQLConnection($0, statements, shard: shard)) }
            }
        }
    }

    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching {
            try await pool.run { [statements, shard] session in
                try session.transaction(.readOnly) { try work(PostgreSQLConnection($0, statements, shard: shard)) }
            }
        }
    }

    func write<Value: Sendable>(
        _ isolation: SQLIsolation, _ work: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try damage.watching {
            try pool.runBlocking { [statements, shard] session in
                try session.transaction(isolation.level) {
                    try work(PostgreSQLConnection($0, statements, shard: shard))
                }
            }
        }
    }

    func write<Value: Sendable>(
        _ isolation: SQLIsolation, _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching {
            try await pool.run { [statements, shard] session in
                try session.transaction(isolation.level) {
                    try work(PostgreSQLConnection($0, statements, shard: shard))
                }
            }
        }
    }

    func readEach<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await damage.watching {
            try await pool.run { [statements, shard] session in
                try session.repeating { try work(PostgreSQLConnection($0, statements, shard: shard)) }
            }
        }
    }

    func snapshot() throws -> any SQLSnapshot {
        let isAllowed = snapshots.withLock { open in
            guard open < mostSnapshots else { return false }
            open += 1
            return true
        }
        guard isAllowed else { throw StoreError.busy }
        let lane = PostgreSQLLane(address, application: Self.application, timeLimit: Self.requestLimit)
        return PostgreSQLSnapshot(lane, statements) { [self] in
            snapshots.withLock { $0 -= 1 }
        }
    }

    func session<Value>(_ work: (any SQLSession) throws -> Value) throws -> Value {
        let session = PostgreSQLSession(address, application: Self.application, timeLimit: Self.longLimit)
        return try work(PostgreSQLWork(session, statements, damage, shard: shard))
    }

    func group(_ work: @escaping @Sendable (any SQLSession) -> Void) {
        commits.run { [statements, damage, shard] in work(PostgreSQLWork($0, statements, damage, shard: shard)) }
    }

    /// The role and the standbys of the server.
    func replication() async throws -> PostgreSQLReplication { try await pool.run(PostgreSQLReplication.read) }

    /// The role and the standbys of the server; blocks.
    func presentReplication() throws -> PostgreSQLReplication { try pool.runBlocking(PostgreSQLReplication.read) }

    /// The present load of the pool.
    var load: PostgreSQLPool.Load { pool.load }
}

extension SQLIsolation {
    fileprivate var level: PostgreSQLSession.Isolation {
        switch self {
        case .serial: .serializable
        case .locked: .readCommitted
        }
    }
}

/// A session for several transactions.
private final class PostgreSQLWork: SQLSession {
    private let session: PostgreSQLSession
    private let damage: DamageRecord
    let connection: any SQLConnection

    init(_ session: PostgreSQLSession, _ statements: PortableStatements, _ damage: DamageRecord, shard: Int) {
        self.session = session
        self.damage = damage
        connection = PostgreSQLConnection(session, statements, shard: shard)
    }

    func transaction(writes _: Bool, _ work: () throws -> Bool) throws {
        do {
            try damage.watching { try session.transaction { _ in if try !work() { throw Undone() } } }
        } catch is Undone {}
    }

    /// Undoes a transaction.
    private struct Undone: Error {}
}

/// A transaction on a connection of its own that sees one state.
private final class PostgreSQLSnapshot: SQLSnapshot {
    private let lane: PostgreSQLLane
    private let statements: PortableStatements
    private let ended: @Sendable () -> Void

    init(_ lane: PostgreSQLLane, _ statements: PortableStatements, ended: @escaping @Sendable () -> Void) {
        self.lane = lane
        self.statements = statements
        self.ended = ended
    }

    deinit { ended() }

    func read<Value: Sendable>(
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            lane.run { [statements] session in
                continuation.resume(
                    with: Result {
                        if session.connections == 0 {
                            try session.execute(PostgreSQLSession.Isolation.readOnly.rawValue)
                        }
                        // A new connection would see another state.
                        guard session.connections == 1, session.isConnected() else { throw SnapshotLost() }
                        return try work(PostgreSQLConnection(session, statements, shard: 0))
                    })
            }
        }
    }
}

/// The connection of a long response was lost; the client syncs again.
private struct SnapshotLost: Error, CustomStringConvertible {
    var description: String { "the connection to PostgreSQL was lost while a long response was read; sync again" }
}
