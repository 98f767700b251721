// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import PostgreSQL

/// The place of a directory's database, with what its two kinds do in different ways.
protocol StoreEngine: AnyObject, Sendable {
    /// The path of the file, or hosts and database of the server.
    var place: String { get }
    var pool: any SQLPool { get }
    /// A standby that serves syncs and may lag behind; nil without one.
    var replica: (any SQLPool)? { get }
    /// The bytes of logos and uploads.
    var bytes: any ByteStore { get }

    /// Finds the owner of a key by its hash; nil for an unknown, revoked or expired key.
    func caller(ofKey hash: Data, now: Int64) async throws -> Caller?

    /// True if the owner of a key and the state of its account take one round trip together, and the primary serves polls.
    var looksUpPolls: Bool { get }

    /// True if this program holds the lease on some work, which it takes if no other program does.
    func takesLease(_ work: String, holder: String) async throws -> Bool

    func probe() async throws(StoreProblem)

    /// The damage that any statement has found.
    var damage: DamageRecord { get }

    /// Reads all of a file for damage; does nothing for a server, which has checks of its own.
    func lookForDamage(_ turn: WorkTurn) throws

    func health() -> DirectoryHealth

    func trouble(of error: any Error) -> String?

    func backUp(to path: String) throws

    /// Bytes of the database and of a log beside it.
    func sizes() async throws -> (database: Int64, log: Int64)

    /// Role and standbys of the server; nil for a file.
    func replication() async throws -> PostgreSQLReplication?

    /// Sessions with the server; nil for a file.
    var load: PostgreSQLPool.Load? { get }

    /// Seconds since 1970 of the last `herald-directory backup`; nil before the first one.
    var lastBackup: Int64? { get }
}
