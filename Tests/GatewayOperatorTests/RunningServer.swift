// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import TestFixtures
import Testing

@testable import GatewayOperator

/// A server of the gateway on a port the system chose.
enum RunningServer {
    /// Runs the server that is made of a listener and a log, for as long as `body` takes.
    static func run(
        _ server: (HTTPListener, Logger) -> some Service, _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let (ports, announced) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let listener = HTTPListener(host: "127.0.0.1", port: 0, key: "listen") { announced.yield($0) }
        let services = RunningServices([server(listener, logger)], logger: logger) { announced.finish() }
        try await services.stop(after: {
            var iterator = ports.makeAsyncIterator()
            try await body(try #require(await iterator.next(), "the server ended before it listened"))
        })
    }
}
