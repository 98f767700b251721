// SPDX-License-Identifier: Apache-2.0

import Host
package import Logging
package import ServiceLifecycle

/// A service of a reload, whose failure is logged and ends nothing: calls must go on.
///
/// The server before it may still close its socket, so an address that is in use is tried again for `patience`.
package struct AfterReload: Service {
    private let service: any Service
    private let name: String
    private let patience: Duration
    private let pause: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - name: of the service in the log, such as `the admin port`.
    ///   - patience: time in which an address in use is tried again.
    ///   - pause: time between two trials.
    package init(
        service: any Service, name: String = "the admin port", patience: Duration = .seconds(5),
        pause: Duration = .milliseconds(100), logger: Logger = Logger(label: "herald.admin")
    ) {
        (self.service, self.name, self.patience, self.pause, self.logger) = (service, name, patience, pause, logger)
    }

    /// Runs the service until its graceful shutdown, or until it cannot start.
    package func run() async throws {
        var waited = Duration.zero
        while !Task.isShuttingDownGracefully {
            do {
                return try await service.run()
            } catch is CancellationError {
                throw CancellationError()
            } catch is ListenRefusal where waited < patience {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
                try Task.checkCancellation()
                waited += pause
            } catch {
                logger.error("\(name) is off: \(error); then reload herald")
                try? await gracefulShutdown()
                return
            }
        }
    }
}
