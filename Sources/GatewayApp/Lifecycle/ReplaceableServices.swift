// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Synchronization

/// Services that a reload replaces as a whole: the old ones end, then the new ones start.
///
/// The old services end gracefully, so requests in flight get their responses first. Any thread replaces.
final class ReplaceableServices: Service {
    /// Makes services at the moment of their start, when the services before them have ended.
    typealias Generation = @Sendable () async -> [any Service]

    private struct State {
        var waiting: Generation?
        var end: AsyncStream<Void>.Continuation?
    }

    private let state: Mutex<State>
    private let logger: Logger

    init(logger: Logger, _ first: @escaping Generation = { [] }) {
        state = Mutex(State(waiting: first))
        self.logger = logger
    }

    /// Replaces the running services, and those that wait for their start.
    func replace(with next: @escaping Generation) {
        let end = state.withLock { state in
            state.waiting = next
            return state.end
        }
        end?.yield()
    }

    /// Runs the services of each generation until graceful shutdown.
    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let (isOver, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let next = state.withLock { state in
                state.end = end
                return state.waiting.take()
            }
            guard let next else { return }
            try await group(await next(), until: isOver).run()
        }
    }

    private func group(_ services: [any Service], until isOver: AsyncStream<Void>) -> ServiceGroup {
        ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) } + [
                    .init(service: Ending(isOver: isOver), successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: logger))
    }

    /// Returns when the generation is to end, which ends its group.
    private struct Ending: Service {
        let isOver: AsyncStream<Void>

        func run() async throws {
            for await _ in isOver.cancelOnGracefulShutdown() { return }
        }
    }
}
