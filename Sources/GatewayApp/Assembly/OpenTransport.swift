// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Host
import SIPCore
import SIPTransport

/// The open sockets of a gateway and the threads that serve them.
struct OpenTransport {
    /// The addresses in the order of `listen`; complete after `start`.
    private(set) var bound: [PeerAddress]
    let workers: [TransportWorker]
    /// Nil where no address uses TCP or TLS.
    let streams: StreamTransport?
    /// The certificate of each TLS address.
    let identities: [ListenerIdentity]

    /// Opens every UDP address and reads the files of every TLS address.
    ///
    /// - Parameters:
    ///   - streamConnections: limit of TCP and TLS connections, from the limit of open files.
    ///   - memory: the memory that the process may use.
    ///   - onTrouble: receives connections that failed; must not wait.
    /// - Throws: at the first address or file that cannot be used.
    init(
        _ configuration: HeraldConfiguration, streamConnections: Int, memory: MemoryLimit,
        onTrouble: @escaping @Sendable (StreamTrouble) -> Void
    ) throws {
        let count = configuration.workers
        let sockets = try configuration.listen.map { listener -> [UDPSocket]? in
            guard listener.transport == .udp else { return nil }
            return try UDPSocket.shared(
                address: try listener.address.peer(), by: count, mayBeAbsent: configuration.mayBeAbsent(listener))
        }
        workers = Self.workers(count, sockets)
        bound = try zip(configuration.listen, sockets).map { listener, sockets in
            try sockets?.first?.address ?? listener.address.peer()
        }
        let listeners = try configuration.streamListeners()
        identities = listeners.compactMap { listener in
            listener.identity.map { ListenerIdentity(name: configuration.listen[listener.position].name, identity: $0) }
        }
        guard !listeners.isEmpty else {
            streams = nil
            return
        }
        let streams = StreamTransport(
            listeners: listeners, inboxes: workers.map(\.inbox),
            limits: StreamLimits(configuration, connections: streamConnections, memory), onTrouble: onTrouble)
        for worker in workers { worker.use(streams) }
        self.streams = streams
    }

    private static func workers(_ count: Int, _ sockets: [[UDPSocket]?]) -> [TransportWorker] {
        // Half of the machine remains for the recorder.
        let share = 0.5 * min(1, Double(ProcessInfo.processInfo.activeProcessorCount) / Double(count))
        return (0..<count).map { number in
            TransportWorker(
                sockets: sockets.map { $0?[number] }, longestWait: count == 1 ? 1000 : 20, realTimeShare: share)
        }
    }

    /// Listens on every TCP and TLS address.
    ///
    /// - Throws: at the first address that cannot be used.
    mutating func start() async throws {
        guard let streams else { return }
        let addresses = try await streams.start()
        for (position, address) in addresses { bound[position] = address }
    }
}

extension HeraldConfiguration {
    fileprivate func streamListeners() throws -> [StreamListener] {
        try listen.enumerated().filter { $1.transport != .udp }.map { position, listener in
            StreamListener(
                position: position, address: try listener.address.peer(), mayBeAbsent: mayBeAbsent(listener),
                identity: try listener.tls.map { try TLSIdentity(TLSIdentity.Files($0)) })
        }
    }
}

extension StreamLimits {
    fileprivate init(_ configuration: HeraldConfiguration, connections: Int, _ memory: MemoryLimit) {
        self.init()
        self.memory = Int(clamping: configuration.budget(of: memory).streamBytes)
        self.connections = connections
        connectionsPerSource = configuration.streams.connectionsPerSource
        idle = configuration.streams.idle
        unfinished = configuration.streams.unfinished
        largestMessage = configuration.limits.maxMessage
    }
}
