// SPDX-License-Identifier: Apache-2.0

import Directory
import Logging
import Testing

@Suite("The server itself", .timeLimit(.minutes(1)))
struct ServerTests {
    @Test(arguments: ["/mobile/branding/sync", "/nowhere", "/logos/nobody.png"])
    func `no answer to HEAD has a body`(path: String) async throws {
        try await RunningDirectory.run { directory in
            let answer = try await directory.ask(path, method: "HEAD")
            #expect(answer.status >= 400)
            #expect(answer.body.isEmpty)
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
            await #expect(throws: (any Error).self) { try await server.run() }
            #expect(await port == 0)
        }
    }

    @Test func `everyone who asks is told the port`() async throws {
        try await RunningDirectory.run { directory in
            var options = DirectoryServer.Options()
            options.port = 0
            let server = DirectoryServer(
                database: directory.database, options: options,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            async let first = server.port()
            async let second = server.port()
            let running = Task { try await server.run() }
            let ports = await [first, second, server.port()]
            #expect(Set(ports).count == 1)
            #expect(ports.allSatisfy { $0 > 0 && $0 != directory.port })
            running.cancel()
            _ = await running.result
        }
    }
}
