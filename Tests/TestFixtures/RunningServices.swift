// SPDX-License-Identifier: Apache-2.0

package import Logging
package import ServiceLifecycle

/// Services that run until a test stops them.
package final class RunningServices: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts the services.
    ///
    /// - Parameter ended: called when all of them have ended, also before a stop.
    package init(_ services: [any Service], logger: Logger, ended: @escaping @Sendable () -> Void = {}) {
        let group = ServiceGroup(services: services, logger: logger)
        self.group = group
        running = Task {
            defer { ended() }
            try await group.run()
        }
    }

    /// Stops the services and waits for their end; throws the error of one that failed.
    ///
    /// As SIGTERM does: where the task of a server is cancelled, a connection that was just accepted ends the program
    /// (swift-nio, issue 3481).
    package func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }

    /// Calls `body` and stops the services afterwards, whether it throws or not.
    package func stop<Result>(after body: () async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body()
        } catch {
            try? await stop()
            throw error
        }
        try await stop()
        return result
    }
}
