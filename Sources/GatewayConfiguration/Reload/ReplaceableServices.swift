// SPDX-License-Identifier: Apache-2.0

package import Logging
package import ServiceLifecycle
import Synchronization

/// Services that a reload replaces as a whole: the old ones end, then the new ones start.
///
/// The old services end gracefully, so requests in flight get their responses first. After `patience` they are cancelled:
/// a connection that is opened while its server ends may never get a response. Any thread replaces.
package final class ReplaceableServices: Service {
    /// Makes services at the moment of their start, when the services before them have ended.
    package typealias Generation = @Sendable () async -> [any Service]

    private struct State {
        var waiting: Generation?
        var end: AsyncStream<Void>.Continuation?
    }

    private let state: Mutex<State>
    private let logger: Logger
    private let patience: Duration

    /// - Parameter patience: the longest time in which replaced services end by themselves.
    package init(logger: Logger, patience: Duration = .seconds(30), _ first: @escaping Generation = { [] }) {
        state = Mutex(State(waiting: first))
        self.logger = logger
        self.patience = patience
    }

    /// Replaces the running services, and those that wait for their start.
    package func replace(with next: @escaping Generation) {
        let end = state.withLock { state in
            state.waiting = next
            return state.end
        }
        end?.yield()
    }

    /// Runs the services of each generation until graceful shutdown.
    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let (isOver, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let next = state.withLock { state in
                state.end = end
                return state.waiting.take()
            }
            guard let next else { return }
            do {
                try await group(await next(), until: isOver).run()
            } catch  where (isReplaced || Task.isShuttingDownGracefully) && !Task.isCancelled {
                logger.debug("replaced services were cancelled", metadata: ["error": "\(error)"])
            }
        }
    }

    /// True once the next generation waits for the end of the present one.
    private var isReplaced: Bool { state.withLock { $0.waiting != nil } }

    private func group(_ services: [any Service], until isOver: AsyncStream<Void>) -> ServiceGroup {
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) } + [
                .init(service: Ending(isOver: isOver), successTerminationBehavior: .gracefullyShutdownGroup)
            ], logger: logger)
        configuration.maximumGracefulShutdownDuration = patience
        return ServiceGroup(configuration: configuration)
    }

    /// Returns when the generation is to end, which ends its group.
    private struct Ending: Service {
        let isOver: AsyncStream<Void>

        func run() async throws {
            for await _ in isOver.cancelOnGracefulShutdown() { return }
        }
    }
}
