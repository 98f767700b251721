// SPDX-License-Identifier: Apache-2.0

package import Host
import PostgreSQL

/// The database of a directory: accounts, keys, brands, events, devices.
///
/// Thread-safe.
package final class DirectoryDatabase: Sendable {
    /// The SQLite file or the PostgreSQL server.
    let engine: any StoreEngine
    let pool: any SQLPool
    /// The bytes of logos and uploads.
    let bytes: any ByteStore
    /// The state folder; SQLite keeps everything in it, PostgreSQL nothing but files that are being imported.
    package let folder: String
    /// Bytes that the clients of an account may store in a day beside counted events; 0 means no limit.
    package let storedPerDay: Int
    let keyUsage = KeyUsage()
    let unchanged = UnchangedResponses()
    let deviceCounts = DeviceCounts()
    let pushDeviceCounts = DeviceCounts(table: "push_device")
    /// Whether events make push messages; a server with `push` in its configuration switches it on.
    package let pushes = PushSwitch()
    /// Small writes of requests, batched into transactions.
    let commits: GroupCommit
    /// Imports and reports: below all other threads, and one after another on a small machine.
    package let longWork = WorkerThreads(
        name: "herald-longwork", niceness: 10, atOnce: WorkerThreads.longWorks, most: 32)
    /// Reads and writes of operators.
    package let operatorWork = WorkerThreads(name: "herald-operator", niceness: 5, atOnce: 4, most: 256)
    /// The name of this program in leases.
    private let holder = NewSecret.text("", bytes: 8)

    /// Opens the SQLite file of a state folder and migrates it to the present schema.
    ///
    /// - Parameter creates: false for commands that need an existing database, so that a mistyped folder is an error
    ///   and not a new database.
    /// - Parameter storedPerDay: bytes that the clients of an account may store in a day; 0 means no limit.
    /// - Throws: `DirectoryDatabaseError` with the file and the remedy.
    package convenience init(
        folder: String, creates: Bool = true, storedPerDay: Int = 0
    ) throws(DirectoryDatabaseError) {
        self.init(try SQLiteFile(folder: folder, creates: creates), folder: folder, storedPerDay: storedPerDay)
    }

    /// Opens the database of a PostgreSQL server and creates or migrates its tables.
    ///
    /// - Parameters:
    ///   - folder: the folder for files that are being imported.
    ///   - creates: whether a missing folder is created; false for commands that read or change what is there.
    ///   - storedPerDay: bytes that the clients of an account may store in a day; 0 means no limit.
    /// - Throws: `DirectoryDatabaseError` with the server and the remedy.
    package convenience init(
        server: DatabaseServer, folder: String, creates: Bool = true, storedPerDay: Int = 0
    ) throws(DirectoryDatabaseError) {
        let engine = try PostgreSQLServer(server, folder: folder, creates: creates)
        self.init(engine, folder: folder, storedPerDay: storedPerDay)
    }

    /// Whether an opening of the file in a state folder would change its schema, so that a command that only looks must
    /// not open it.
    package static func isOlder(folder: String) -> Bool { SQLiteFile.isOlder(in: folder) }

    private init(_ engine: any StoreEngine, folder: String, storedPerDay: Int) {
        self.engine = engine
        (pool, bytes) = (engine.pool, engine.bytes)
        self.folder = folder
        self.storedPerDay = storedPerDay
        commits = GroupCommit(engine.pool)
    }

    /// The path of the file, or hosts and database of the server.
    package var place: String { engine.place }

    /// True for a database that several nodes share.
    package var isShared: Bool { engine.pool.dialect == .postgreSQL }

    /// Finds the owner of a key; nil for an unknown, revoked or expired key.
    ///
    /// The lookup goes by the hash, so its duration reveals nothing about other keys.
    package func caller(ofKey key: String, now: Int64) async throws -> Caller? {
        let hash = SecretHash.of(key)
        let caller = try await engine.caller(ofKey: hash, now: now)
        if caller != nil { keyUsage.record(hash, now: now) }
        return caller
    }

    /// Writes the times at which keys were used since the last call.
    package func writeKeyUsage() async throws { try await keyUsage.write(to: pool) }

    /// Writes the counts of unchanged responses since the last call.
    package func writeUnchangedResponses() async throws { try await unchanged.write(to: pool) }

    /// Reads one value, so that a health check fails when the database is unreadable.
    package func check() async throws {
        _ = try await pool.read { try $0.value(Int.self, "SELECT count(*) FROM account") }
    }

    /// True if this program does the work that one node does for all, such as the removal of old rows.
    package func takesLease(_ work: String) async throws -> Bool {
        try await engine.takesLease(work, holder: holder)
    }

    /// Writes a consistent copy of a SQLite database beside a running server, without blocking it.
    ///
    /// Only this user can read the copy. Uploaded logos are files beside the database and not in the copy.
    ///
    /// - Throws: an `OperatorError` if the file exists or cannot be created, and for a PostgreSQL server; or a database
    ///   error.
    package func backUp(to path: String) throws { try engine.backUp(to: path) }

    /// Seconds since 1970 of the last backup; nil before the first one, and for a PostgreSQL server.
    package var lastBackup: Int64? { engine.lastBackup }

    /// Reads the present state of folder and database; never throws, because a broken disk must not hide itself.
    ///
    /// - Parameter now: seconds since 1970.
    package func health(now: Int64) -> DirectoryHealth {
        var health = engine.health()
        // A failed read is among the engine's problems.
        if let problem = try? clockProblem(now: now) { health.problems.append(problem) }
        return health
    }

    /// The cause of a failed read or write and its remedy; nil for errors of other kinds.
    package func trouble(of error: any Error) -> String? { engine.trouble(of: error) }

    /// Writes to the database without changing it, so that a full disk or a lost server shows.
    ///
    /// - Throws: `StoreProblem`.
    package func probe() async throws(StoreProblem) { try await engine.probe() }

    /// The first damage of the database that any statement has found; nil for none.
    ///
    /// `problem` is for everybody and names no file; `details` are for the log. Both have the remedy.
    package var damage: (problem: String, details: String)? {
        engine.damage.text.map { ("the database is damaged; stop herald-directory and restore a backup", $0) }
    }

    /// Reads the whole file for damage; on a large one it takes minutes of a thread that may wait.
    ///
    /// - Throws: a database error, or an error of the turn.
    package func lookForDamage(_ turn: WorkTurn) throws { try engine.lookForDamage(turn) }

    /// Times of commits in seconds, from the begin of a transaction to the disk.
    package var commitTimes: Distribution { commits.times.distribution }

    /// Writes of requests that wait for a commit.
    package var waitingWrites: Int { commits.waiting }
}
