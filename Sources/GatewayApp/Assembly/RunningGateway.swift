// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Logging
import ServiceLifecycle
import UnixSignals

/// A gateway from its start to its end.
///
/// The start has four phases: open files and sockets, load the stored state, build the call path, build the services. The
/// gateway sends nothing before all four are complete, so a start that fails touches no call.
struct RunningGateway {
    private let logger: Logger
    private let recorder: OutcomeRecorder
    private let database: HeraldDatabase
    /// Locks on the folders; held as long as the gateway.
    private let claims: [FolderClaim]
    /// Reads the configuration again.
    let reload: ConfigurationReload
    /// In the order of their start.
    let services: [any Service]

    /// Runs the four phases.
    ///
    /// - Throws: an error that names the address, folder or file, and the configuration key to change.
    init(_ start: GatewayStart) async throws {
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let parts = try GatewayServices(start, resources, state, callPath)
        reload = parts.configurationReload
        services = try parts.build()
        logger = start.logger
        claims = resources.claims
        recorder = state.recorder
        database = state.database
    }

    /// Carries calls until SIGTERM or SIGINT, then stores the updates that are still in the ring.
    ///
    /// - Throws: the error of the first service that failed, such as a taken HTTP port.
    func run() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
        close()
        logger.info("stopped; calls in progress go on with the next start")
    }

    /// Stores the rest of the ring and closes the databases; later updates wait in the ring's file.
    func close() {
        _ = try? recorder.drain()
        try? database.close()
    }
}
