// SPDX-License-Identifier: Apache-2.0

import Host
import Hummingbird
import Logging
import NIOCore

/// The address of one of the gateway's HTTP servers, and the callback after it listens.
struct HTTPListener: Sendable {
    private let host: String
    private let port: Int
    private let key: String
    private let onListening: @Sendable (_ port: Int) -> Void

    /// - Parameters:
    ///   - host: the literal address to listen on, IPv6 without brackets.
    ///   - port: 0 for a port of the system's choice.
    ///   - key: the configuration key of the address, such as `admin.listen`.
    ///   - onListening: called with the port once the socket is open. The server accepts requests a moment later.
    init(
        host: String, port: Int, key: String, onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.host = host
        self.port = port
        self.key = key
        self.onListening = onListening
    }

    /// Serves until the service group shuts down.
    ///
    /// - Parameter application: makes the server from its configuration, the callback and the log.
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    func serve(
        logger: Logger,
        _ application: (
            ApplicationConfiguration, _ onRunning: @escaping @Sendable (any Channel) async -> Void, Logger
        ) -> some ApplicationProtocol
    ) async throws {
        var quiet = logger
        // The framework logs its own state at `info`. It does not concern the operator.
        quiet.logLevel = max(logger.logLevel, .notice)
        let configuration = ApplicationConfiguration(address: .hostname(host, port: port), serverName: "herald")
        do {
            let onListening = onListening
            try await application(configuration, { onListening($0.localAddress?.port ?? 0) }, quiet).run()
        } catch let error as IOError {
            throw ListenRefusal(.tcp, host: host, port: port, code: error.errnoCode, key: key)
        }
    }
}
