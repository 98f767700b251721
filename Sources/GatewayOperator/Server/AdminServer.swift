// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import WebPages

/// Serves the admin port: `/healthz`, `/readyz`, `/metrics` and `/status` for monitors, and the pages for people.
///
/// The paths of monitors have no login. They show counts and states, never a telephone number, a name or a key. The pages
/// have the access of their site. The server shares only its counters with the call path.
struct AdminServer: Service {
    /// Idle time before a connection is closed.
    private static let idle = TimeAmount.seconds(75)

    private let listener: HTTPListener
    private let source: any GatewayStatusSource
    private let pages: PageSite?
    private let certificate: ServerCertificate?
    private let logger: Logger
    private let limits = ConnectionShares.Limits()
    /// Connections that are open at most.
    static let mostConnections = ConnectionShares.Limits().most

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameters:
    ///   - pages: nil for a server without pages.
    ///   - certificate: nil for HTTP without TLS.
    init(
        _ listener: HTTPListener, source: any GatewayStatusSource, pages: PageSite? = nil,
        certificate: ServerCertificate? = nil, logger: Logger
    ) {
        self.listener = listener
        self.source = source
        self.pages = pages
        self.certificate = certificate
        self.logger = logger
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    func run() async throws {
        // Few connections: the clients are some monitors, and file descriptors are limited.
        let shares = ConnectionShares(limits, key: "admin.listen", logger: logger)
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [shares.handler], idleTimeout: Self.idle))
        let builder =
            try certificate.map { try HTTPServerBuilder.tls(http, tlsConfiguration: $0.configuration) } ?? http
        try await listener.serve(logger: logger) { configuration, onRunning, quiet in
            var configuration = configuration
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(limits.most, logger: quiet)
            return Application(
                router: AdminRoutes(source: source, shares: shares, pages: pages).router(), server: builder,
                configuration: configuration, onServerRunning: onRunning, logger: quiet)
        }
    }
}
