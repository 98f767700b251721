// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves an operator's commands on a Unix-domain socket in the runtime folder.
///
/// HTTP, as on the admin port, but never over the network. The gateway's user and group may write to the socket (0660)
/// and so command the gateway. If the socket cannot be opened, a warning is logged; calls are not affected.
struct ControlServer: Service {
    /// The name of the socket in `gateway.runtime`.
    static let socketName = "control.sock"
    /// Concurrent connections: commands of a few operators.
    static let connections = 16
    /// Idle time before a connection is closed.
    private static let idle = TimeAmount.seconds(75)
    /// Time that running commands have to end when the gateway stops.
    private static let patience = Duration.seconds(5)

    private let path: String
    private let control: any GatewayControl
    private let trace: (any TraceSource)?
    private let calls: (any CallSource)?
    private let tests: (any TestCallSource)?
    private let onListening: @Sendable () -> Void
    private let logger: Logger

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameters:
    ///   - folder: `gateway.runtime`, used by this gateway alone. A socket of an earlier run is removed.
    ///   - trace: carries out the orders of `herald trace`; nil where nothing can be traced.
    ///   - calls: the calls of the ledger; nil where none can be read.
    ///   - tests: carries out the orders of `herald test-call`; nil where none can be made.
    ///   - onListening: called once the socket accepts commands.
    init(
        folder: String, control: any GatewayControl, trace: (any TraceSource)? = nil,
        calls: (any CallSource)? = nil, tests: (any TestCallSource)? = nil, logger: Logger,
        onListening: @escaping @Sendable () -> Void = {}
    ) {
        path = folder + "/" + Self.socketName
        self.control = control
        self.trace = trace
        self.calls = calls
        self.tests = tests
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until the service group shuts down.
    func run() async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let configuration = ApplicationConfiguration(
            address: .unixDomainSocket(path: path), serverName: "herald",
            availableConnectionsDelegate: MaximumAvailableConnections(Self.connections, logger: quiet))
        let (path, onListening) = (path, onListening)
        let application = Application(
            router: ControlRoutes(control: control, trace: trace, calls: calls, tests: tests, logger: logger).router(),
            server: .http1(configuration: .init(idleTimeout: Self.idle)), configuration: configuration,
            onServerRunning: { _ in
                // Under the program's umask the group could read the socket only, and connecting needs to write.
                chmod(path, 0o660)
                onListening()
            }, logger: quiet)
        do {
            try await Self.run(application)
        } catch {
            logger.warning(
                """
                the control socket cannot be opened, calls are not affected: commands such as herald sync do not reach \
                this gateway; see gateway.runtime
                """,
                metadata: ["path": "\(path)", "reason": "\(SystemError.text(error) ?? "\(error)")"])
            try? await gracefulShutdown()
        }
    }

    /// Runs until the service group shuts down; a client that reads nothing does not hold up the stop.
    private static func run(_ application: some ApplicationProtocol) async throws {
        try await firstOf(
            { try await application.run() },
            {
                try await gracefulShutdown()
                try await Task.sleep(for: patience)
            })
    }
}
