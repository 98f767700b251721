// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Hummingbird
package import Logging
import ServiceLifecycle

/// The operator's HTTP page: `/healthz`, `/readyz`, `/metrics` and `/status`, all read-only.
///
/// It has no login, so it listens on loopback unless the operator says otherwise. It shows counts and states, never a
/// telephone number, a name or a key. It shares nothing with the call path but the counters it reads.
package struct AdminServer: Service {
    private let host: String
    private let port: Int
    private let source: any GatewayStatusSource
    private let logger: Logger
    private let onListening: @Sendable (_ port: Int) -> Void

    /// Prepares a server; nothing is opened before `run`.
    ///
    /// - Parameters:
    ///   - host: the literal address to listen on, IPv6 without brackets.
    ///   - port: 0 lets the system choose.
    ///   - onListening: told the port once the socket is open; requests are answered a moment later.
    package init(
        host: String, port: Int, source: any GatewayStatusSource, logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.host = host
        self.port = port
        self.source = source
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: the socket's error if the address cannot be bound.
    package func run() async throws {
        var quiet = logger
        // The framework speaks of itself at `info`; what it says is not the operator's business.
        quiet.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            router: AdminRoutes(source: source).router(),
            configuration: .init(address: .hostname(host, port: port), serverName: "herald"),
            onServerRunning: { [onListening] channel in onListening(channel.localAddress?.port ?? 0) },
            logger: quiet)
        try await application.run()
    }
}
