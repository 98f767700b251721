// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves the admin port: `/healthz`, `/readyz`, `/metrics` and `/status`, all read-only.
///
/// It has no login, so it listens on loopback by default. It shows counts and states, never a telephone number, a name
/// or a key. It shares only its counters with the call path.
package struct AdminServer: Service {
    /// Idle time before a connection is closed.
    private static let idle = TimeAmount.seconds(75)

    private let listener: HTTPListener
    private let source: any GatewayStatusSource
    private let logger: Logger
    private let limits = ConnectionShares.Limits()

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    package init(_ listener: HTTPListener, source: any GatewayStatusSource, logger: Logger) {
        self.listener = listener
        self.source = source
        self.logger = logger
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    package func run() async throws {
        // Few connections: the clients are some monitors, and file descriptors are limited.
        let shares = ConnectionShares(limits, key: "admin.listen", logger: logger)
        try await listener.serve(logger: logger) { configuration, onRunning, quiet in
            var configuration = configuration
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(limits.most, logger: quiet)
            return Application(
                router: AdminRoutes(source: source, shares: shares).router(),
                server: .http1(
                    configuration: .init(
                        additionalChannelHandlers: [ConnectionShare(shares)], idleTimeout: Self.idle)),
                configuration: configuration, onServerRunning: onRunning, logger: quiet)
        }
    }
}
