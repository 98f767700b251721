// SPDX-License-Identifier: Apache-2.0

import Branding
package import ConfigurationFiles
package import DirectoryServer
package import DirectoryStore
package import Logging
package import TestFixtures

/// A directory server on a port of its own, with a database and one good key.
package final class RunningDirectory: Sendable {
    package let folder: TemporaryFolder
    package let database: DirectoryDatabase
    package let port: Int
    /// A good key, named `test`.
    package let key: String
    /// The clock of the server.
    package let time = ManualTime()
    /// The port of the operator's API where it has one of its own, or 0.
    package let adminPort: Int
    private let services: RunningServices

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - folder: where its state is; with `key`, the state of an earlier directory.
    ///   - port: 0 for any.
    ///   - storedPerDay: bytes that clients may have stored in a day; 0 is no bound.
    ///   - logger: where the server writes its log.
    ///   - edit: changes how it runs.
    package init(
        folder: TemporaryFolder = TemporaryFolder(), port: Int = 0, key: String? = nil, storedPerDay: Int = 0,
        logger: Logger = Logger(label: "directory") { _ in SwiftLogNoOpLogHandler() },
        edit: (inout DirectoryServer.Options) -> Void = { _ in }
    ) async throws {
        self.folder = folder
        database = try Engine.open(folder.path + "/state", storedPerDay: storedPerDay)
        if let key {
            self.key = key
        } else {
            let accounts = AccountStore(database)
            _ = try accounts.revokeKey(name: "test", now: 0)
            self.key = try accounts.createKey(name: "test", now: 0)
        }
        var options = DirectoryServer.Options()
        options.port = port
        let time = time
        options.now = { time.now }
        edit(&options)
        let server = DirectoryServer(database: database, options: options, logger: logger)
        services = RunningServices([server], logger: logger)
        self.port = await server.port()
        adminPort = await server.adminPort()
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Runs a server for as long as `body` takes.
    ///
    /// - Parameters:
    ///   - folder: where its state is; a new folder unless given.
    ///   - logos: true lets it serve the folder itself as the folder of logos.
    ///   - storedPerDay: bytes that clients may have stored in a day; 0 is no bound.
    ///   - logger: where the server writes its log.
    ///   - edit: changes how it runs.
    package static func run(
        in folder: TemporaryFolder? = nil, publicURL: String? = "https://brands.example/", logos: Bool = false,
        limits: RateLimits = .none, clients: ClientSettings = ClientSettings(), storedPerDay: Int = 0,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        edit: (inout DirectoryServer.Options) -> Void = { _ in },
        _ body: @Sendable (RunningDirectory) async throws -> Void
    ) async throws {
        let folder = folder ?? TemporaryFolder()
        let directory = try await RunningDirectory(folder: folder, storedPerDay: storedPerDay, logger: logger) {
            $0.publicURL = publicURL
            $0.logos = logos ? folder.path : nil
            ($0.policies.rateLimits, $0.policies.clients) = (limits, clients)
            edit(&$0)
        }
        guard directory.port > 0 else {
            try await directory.stop()
            throw NotListening()
        }
        try await directory.services.stop(after: { try await body(directory) })
    }

    /// Stops listening and waits until it has.
    package func stop() async throws { try await services.stop() }
}

/// The server ended before it listened.
private struct NotListening: Error {}
