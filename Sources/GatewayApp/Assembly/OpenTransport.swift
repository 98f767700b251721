// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle

/// The local addresses of a gateway and the threads that serve them.
struct OpenTransport {
    /// In the order of `listen`; ports that the kernel chose are known after `start`.
    private(set) var bound: [PeerAddress]
    let workers: [TransportWorker]
    /// Nil where no address speaks TCP or TLS.
    let streams: StreamTransport?
    /// What each TLS address shows to peers.
    let identities: [ListenerIdentity]

    /// Opens every UDP address and reads the files of every TLS address; throws at the first that cannot be used.
    ///
    /// - Parameters:
    ///   - streamConnections: how many connections of TCP and TLS the system has room for.
    ///   - onTrouble: hears of connections that do not come about; must not wait.
    init(
        _ configuration: HeraldConfiguration, streamConnections: Int,
        onTrouble: @escaping @Sendable (StreamTrouble) -> Void
    ) throws {
        let count = configuration.workers
        let sockets = try configuration.listen.map { listener -> [UDPSocket]? in
            guard listener.transport == .udp else { return nil }
            return try UDPSocket.shared(address: try listener.address.peer(), by: count)
        }
        // All of them together leave half of the machine to what stores outcomes.
        let share = 0.5 * min(1, Double(ProcessInfo.processInfo.activeProcessorCount) / Double(count))
        let workers = (0..<count).map { number in
            TransportWorker(
                sockets: sockets.map { $0?[number] }, longestWait: count == 1 ? 1000 : 20, realTimeShare: share)
        }
        self.workers = workers
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
            limits: StreamLimits(configuration, connections: streamConnections), onTrouble: onTrouble)
        for worker in workers { worker.use(streams) }
        self.streams = streams
    }

    /// Listens on every TCP and TLS address.
    mutating func start() async throws {
        guard let streams else { return }
        let addresses = try await streams.start()
        for (position, address) in addresses { bound[position] = address }
    }
}

/// The identity of a listen entry that speaks TLS.
struct ListenerIdentity: Sendable {
    let name: String
    let identity: TLSIdentity
}

extension HeraldConfiguration {
    fileprivate func streamListeners() throws -> [StreamListener] {
        try listen.enumerated().filter { $1.transport != .udp }.map { position, listener in
            StreamListener(
                position: position, address: try listener.address.peer(),
                identity: try listener.tls.map { try TLSIdentity(TLSIdentity.Files($0)) })
        }
    }
}

extension TLSIdentity.Files {
    init(_ files: HeraldConfiguration.TLSFiles) {
        self.init(
            certificate: files.certificate, key: files.key, roots: files.roots,
            asksForCertificate: files.asksForCertificate, suites: files.suites == .modern ? .modern : .compatible)
    }
}

extension StreamLimits {
    fileprivate init(_ configuration: HeraldConfiguration, connections: Int) {
        self.init()
        self.connections = connections
        connectionsPerSource = configuration.streams.connectionsPerSource
        idle = configuration.streams.idle
        unfinished = configuration.streams.unfinished
        largestMessage = configuration.limits.maxMessage
    }
}

extension NextHopResolver {
    /// Keeps the names of a configuration resolved, and the settings with them.
    convenience init(_ configuration: HeraldConfiguration, settings: LiveSettings, logger: Logger) {
        let servers = configuration.nameServers.compactMap { try? $0.peer() }
        self.init(
            names: configuration.nextHopNames, lookup: SystemNameLookup(settings: .init(servers: servers)),
            settings: .init(
                resolution: .init(families: configuration.addressFamilies),
                path: configuration.state + "/next-hops.json"),
            time: .init(clock: ContinuousClock(), wallSeconds: { Int64(Date().timeIntervalSince1970) }),
            onChange: { settings.use($0) }, onNotice: { logger.warning("\($0)") })
    }
}

/// Refreshes the addresses of next hops that are names.
struct ResolverService: Service {
    let resolver: NextHopResolver

    func run() async throws {
        await cancelWhenGracefulShutdown { await resolver.run() }
    }
}
