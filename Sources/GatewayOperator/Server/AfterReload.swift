// SPDX-License-Identifier: Apache-2.0

import Host
import Logging
import ServiceLifecycle

/// A service of a reload, whose failure is logged and ends nothing: calls must go on.
///
/// The server before it may still close its socket, so an address that is in use is tried again for `patience`.
struct AfterReload: Service {
    let service: any Service
    var patience = Duration.seconds(5)
    var pause = Duration.milliseconds(100)
    var logger = Logger(label: "herald.admin")

    func run() async throws {
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
                logger.error("the admin port is off: \(error); then reload herald")
                try? await gracefulShutdown()
                return
            }
        }
    }
}
