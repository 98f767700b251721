// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Logging
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@Suite("The server itself", .timeLimit(.minutes(8)), .bothEngines)
struct ServerTests {
    @Test(arguments: ["/mobile/branding/sync", "/nowhere", "/logos/nobody.png"])
    func `no response to HEAD has a body`(path: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.ask(path, method: "HEAD")
            #expect(response.status >= 400)
            #expect(response.body.isEmpty)
        }
    }

    @Test func `a server that cannot listen says so and lets nobody wait for its port`() async throws {
        try await RunningDirectory.run { directory in
            var options = DirectoryServer.Options()
            options.port = directory.port
            let server = DirectoryServer(
                database: directory.database, options: options,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            async let port = server.port()
            let error = await #expect(throws: (any Error).self) { try await server.run() }
            #expect(error.map { "\($0)" } == Self.taken(directory.port, key: "listen"))
            #expect(await port == 0)
        }
    }

    @Test func `a taken port of the operator's API is the only error`() async throws {
        try await RunningDirectory.run { directory in
            var options = DirectoryServer.Options()
            options.port = 0
            options.admin = .at(host: "127.0.0.1", port: directory.port)
            let lines = Mutex<[String]>([])
            let server = DirectoryServer(
                database: directory.database, options: options,
                logger: Logger(label: "test") { _ in
                    LineLog { line, level in if level >= .notice { lines.withLock { $0.append(line) } } }
                })
            let error = await #expect(throws: (any Error).self) { try await server.run() }
            #expect(error.map { "\($0)" } == Self.taken(directory.port, key: "admin.listen"))
            #expect(lines.withLock { $0 } == [])
        }
    }

    private static func taken(_ port: Int, key: String) -> String {
        """
        cannot listen on TCP 127.0.0.1:\(port): Address already in use; \
        see who uses it with `ss -ltnp`, or change \(key)
        """
    }

    @Test func `every caller gets the port`() async throws {
        try await RunningDirectory.run { directory in
            var options = DirectoryServer.Options()
            options.port = 0
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let server = DirectoryServer(database: directory.database, options: options, logger: logger)
            let services = ServiceGroup(services: [server], logger: logger)
            async let first = server.port()
            async let second = server.port()
            async let running: Void = services.run()
            let ports = await [first, second, server.port()]
            #expect(Set(ports).count == 1)
            #expect(ports.allSatisfy { $0 > 0 && $0 != directory.port })
            await services.triggerGracefulShutdown()
            try await running
        }
    }
}

/// Hands every line to a closure.
struct LineLog: LogHandler {
    let take: @Sendable (String, Logger.Level) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(_ take: @escaping @Sendable (String, Logger.Level) -> Void) { self.take = take }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { take("\(event.message)", event.level) }
}
