// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Host
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
        // Before anything is opened.
        let connections = try Self.streamConnections(configuration, start.logger)
        troubles = StateTroubles(logger: start.logger)
        claims = try StateFolder.claim(
            [("gateway.state", configuration.state), ("gateway.runtime", configuration.runtime)], reporting: troubles)
        Self.takeRestoreBack(configuration.state, troubles, start.logger)
        // The slowest step of a start runs beside all others.
        savedIndex = configuration.brandsFile == nil ? BrandCacheIndexFile.reading(in: configuration.state) : nil
        secret = GatewaySecret(in: configuration.state, spare: configuration.runtime, reporting: troubles)
        memory = .current()
        reachability = ReachabilityLog(logger: start.logger)
        var transport = try OpenTransport(
            configuration, streamConnections: connections, memory: memory, onTrouble: reachability.streamFailed)
        try await transport.start()
        self.transport = transport
    }

    /// Puts the files back that an interrupted `herald restore` has replaced.
    private static func takeRestoreBack(_ state: String, _ troubles: StateTroubles, _ logger: Logger) {
        do throws(BackupProblem) {
            if let text = try InterruptedRestore.takeBack(in: state) { logger.warning("\(text)") }
        } catch {
            troubles.add("\(error)")
        }
    }

    /// Raises the limit of open files and returns the number of TCP and TLS connections it allows.
    ///
    /// - Throws: `CommandFailure` for a limit under which no start works.
    private static func streamConnections(_ configuration: HeraldConfiguration, _ logger: Logger) throws -> Int {
        let hasStreams = configuration.listen.contains { $0.transport != .udp }
        let streams = hasStreams ? configuration.streams.connections : 0
        let files = configuration.openFiles
        if let refusal = files.refusal { throw CommandFailure(refusal) }
        if let shortage = files.shortage { logger.warning("\(shortage)") }
        return min(streams, files.allowedConnections)
    }
}
