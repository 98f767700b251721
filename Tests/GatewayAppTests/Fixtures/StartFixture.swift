// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import Logging
import ServiceLifecycle
import UnixSignals

@testable import GatewayApp
@testable import GatewayOperator

/// Starts of one gateway in this process.
final class StartFixture: Sendable {
    let folder: GatewayFolder
    let log = LogLines()
    /// Signals that never come.
    private let hangups: UnixSignalsSequence

    init() async throws {
        folder = try GatewayFolder()
        hangups = await UnixSignalsSequence(trapping: .sighup)
    }

    /// The inputs of a start with this configuration.
    func start(_ text: ConfigurationText) throws -> GatewayStart {
        let configuration = try folder.configuration(text)
        return GatewayStart(
            configuration, path: folder.configurationPath, hangups: hangups, log: LogOutput(configuration.log),
            logger: log.logger)
    }

    /// Opens files and sockets.
    func resources(_ text: ConfigurationText? = nil) async throws -> GatewayResources {
        try await GatewayResources(try start(text ?? folder.sections))
    }

    /// Opens files and sockets and loads the stored state.
    func state(_ text: ConfigurationText? = nil) async throws -> (GatewayResources, StoredState) {
        let start = try start(text ?? folder.sections)
        let resources = try await GatewayResources(start)
        return (resources, try await StoredState(start, resources))
    }

    /// Runs a gateway for as long as `body` takes, then stops it as SIGTERM would.
    func run(_ text: ConfigurationText, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await run(start(text)) { _ in try await body() }
    }

    /// Runs a gateway for as long as `body` takes; the body reloads it.
    func run(_ start: GatewayStart, _ body: @escaping @Sendable (ConfigurationReload) async throws -> Void) async throws
    {
        let gateway = try await RunningGateway(start)
        let group = Self.group(gateway)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body(gateway.reload)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        gateway.close()
    }

    /// Runs a gateway until a service fails.
    func runToFailure(_ text: ConfigurationText) async throws {
        let gateway = try await RunningGateway(try start(text))
        defer { gateway.close() }
        try await Self.group(gateway).run()
    }

    private static func group(_ gateway: RunningGateway) -> ServiceGroup {
        ServiceGroup(
            configuration: .init(
                services: gateway.services.map {
                    .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup)
                }, logger: LogLines().logger))
    }
}
