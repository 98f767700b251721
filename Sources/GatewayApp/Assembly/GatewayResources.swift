// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayStore
import HostSystem
import Logging
import SIPCore

/// The folders, files and sockets that one gateway holds and no other process can.
///
/// First phase of a start. A taken address or a folder of another gateway ends the start here, before the first call. A
/// damaged folder or secret does not; `StateTroubles` reports it.
struct GatewayResources {
    let troubles: StateTroubles
    /// Locks on the folders, held until the process ends.
    let claims: [FolderClaim]
    let secret: GatewaySecret
    /// The saved brand index, read on a thread of its own; nil where brands come from a file.
    let savedIndex: Task<SavedBrandIndex, any Error>?
    let memory: MemoryLimit
    let reachability: ReachabilityLog
    let transport: OpenTransport

    /// Opens everything; the order is that of the checks in the log.
    init(_ start: GatewayStart) async throws {
        let configuration = start.configuration
        troubles = StateTroubles(logger: start.logger)
        claims = try StateFolder.claim(
            [("gateway.state", configuration.state), ("gateway.runtime", configuration.runtime)], reporting: troubles)
        // The slowest step of a start runs beside all others.
        savedIndex = configuration.brandsFile == nil ? BrandCacheIndexFile.reading(in: configuration.state) : nil
        secret = GatewaySecret(in: configuration.state, spare: configuration.runtime, reporting: troubles)
        let connections = Self.streamConnections(configuration, start.logger)
        memory = .current()
        reachability = ReachabilityLog(logger: start.logger)
        var transport = try OpenTransport(
            configuration, streamConnections: connections, onTrouble: reachability.streamFailed)
        try await transport.start()
        self.transport = transport
    }

    /// Raises the limit of open files and returns the number of TCP and TLS connections it allows.
    private static func streamConnections(_ configuration: HeraldConfiguration, _ logger: Logger) -> Int {
        let hasStreams = configuration.listen.contains { $0.transport != .udp }
        let streams = hasStreams ? configuration.streams.connections : 0
        // The directory of each customer may have two connections.
        let files = OpenFiles.allow(connections: streams + 2 * configuration.customers.count)
        if let shortage = files.shortage { logger.warning("\(shortage)") }
        return min(streams, files.allowedConnections)
    }
}
