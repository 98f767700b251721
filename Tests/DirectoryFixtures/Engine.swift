// SPDX-License-Identifier: Apache-2.0

package import DirectoryStore
import Foundation
import PostgreSQL
import PostgreSQLTesting
import Synchronization
package import Testing

/// The engines on which a test runs.
package enum Engine: String, CaseIterable, Sendable {
    case sqlite, postgreSQL

    /// False if `HERALD_TESTS_WITHOUT_POSTGRESQL` is set, on a machine that has no PostgreSQL server.
    ///
    /// Without the variable, tests of PostgreSQL fail where there is no server.
    package static let hasServer = ProcessInfo.processInfo.environment["HERALD_TESTS_WITHOUT_POSTGRESQL"] == nil

    /// The engine of the present test.
    @TaskLocal package static var current = sqlite

    /// The database of a folder on the present engine, made if it is new.
    package static func open(
        _ folder: String, creates: Bool = true, storedPerDay: Int = 0
    ) throws -> DirectoryDatabase {
        switch current {
        case .sqlite: return try DirectoryDatabase(folder: folder, creates: creates, storedPerDay: storedPerDay)
        case .postgreSQL:
            var server = DatabaseServer(url: try url(folder))
            (server.connections, server.feeds) = (4, 8)
            return try DirectoryDatabase(server: server, folder: folder, storedPerDay: storedPerDay)
        }
    }

    /// The URL of the PostgreSQL database that stands for a folder.
    package static func url(_ folder: String) throws -> String {
        if let url = urls.withLock({ $0[folder] }) { return url }
        let url = try newURL()
        urls.withLock { $0[folder] = url }
        return url
    }

    /// The URL of an empty schema, which a test has for itself as it would a database.
    ///
    /// A database has hundreds of files of its own, which take longer than most tests.
    package static func newURL() throws -> String {
        let server = try ThrowawayServer.shared.get()
        let name = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try PostgreSQLSession(server.address()).script("CREATE SCHEMA \(name)")
        return server.url() + "&options=-csearch_path%3D\(name)"
    }

    /// The options of a command for the database of a folder.
    package static func options(_ folder: String) throws -> [String] {
        current == .sqlite ? ["--state", folder] : ["--database", try url(folder)]
    }

    /// Databases by the folders that they stand for.
    private static let urls = Mutex<[String: String]>([:])
}

/// Runs each test once for each engine.
package struct BothEngines: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await Engine.$current.withValue(.sqlite) { try await function() }
        guard Engine.hasServer else { return }
        try await ServerTurns.shared.take()
        do {
            try await Engine.$current.withValue(.postgreSQL) { try await function() }
            await ServerTurns.shared.give()
        } catch {
            await ServerTurns.shared.give()
            throw error
        }
    }
}

/// Leaves a test of both engines out on PostgreSQL, because it is about the file of SQLite or a command with `--state`.
package struct SQLiteAlone: TestTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        if Engine.current == .sqlite { try await function() }
    }
}

extension Trait where Self == BothEngines {
    package static var bothEngines: BothEngines { BothEngines() }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test or suite unless the machine has no PostgreSQL server.
    package static var onServer: ConditionTrait {
        .enabled(if: Engine.hasServer, "HERALD_TESTS_WITHOUT_POSTGRESQL is set")
    }
}

extension Trait where Self == SQLiteAlone {
    package static var sqliteAlone: SQLiteAlone { SQLiteAlone() }
}

/// Limits the tests that use the server at once, because each has some connections.
private actor ServerTurns {
    static let shared = ServerTurns()

    private var free = 8
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async throws {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func give() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
