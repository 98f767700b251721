// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallPath
package import ConfigurationFiles
import Host
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves a zone of calling names over UDP and TCP (RFC 1035 §4.2, RFC 7766).
///
/// It has a thread of its own for all sockets. The call path shares with it only snapshots that are read without a wait.
package final class NumberZoneServer: Service {
    private let listen: EndpointAddress
    private let reception: NumberZoneReception
    private let prepare: @Sendable () -> Void
    private let onListening: @Sendable (_ port: Int) -> Void
    private let logger: Logger

    /// The most open sockets: connections, those that are just closed, and two to listen on.
    package static let mostSockets = NumberZoneReception.Limit.connections + 16

    /// Time between two looks at the sockets.
    private static let interval = Duration.seconds(1)
    /// Time between two attempts to open them again.
    private static let pause = Duration.seconds(5)
    /// Ports of the system's choice that are tried before an error.
    private static let portsTried = 20

    /// Prepares a server.
    ///
    /// The sockets are opened by `run`.
    ///
    /// - Parameters:
    ///   - listen: a local address; port 0 for a port of the system's choice.
    ///   - prepare: called before the first query, on no event loop.
    ///   - onListening: called with the port once both sockets are open.
    package init(
        listen: EndpointAddress, rules: NumberZoneRules, counters: NumberZoneCounters,
        prepare: @escaping @Sendable () -> Void = {},
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }, logger: Logger
    ) {
        self.listen = listen
        reception = NumberZoneReception(rules, counters: counters, logger: logger)
        (self.prepare, self.onListening, self.logger) = (prepare, onListening, logger)
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound at the start.
    package func run() async throws {
        prepare()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await serve(on: group)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func serve(on group: any EventLoopGroup) async throws {
        let loop = group.any()
        let first = try await open(loop)
        onListening(first.datagrams.localAddress?.port ?? 0)
        await cancelWhenGracefulShutdown { await self.watch(first, loop) }
    }

    /// Opens sockets again that have closed, until the service ends.
    private func watch(_ first: Sockets, _ loop: any EventLoop) async {
        var sockets = first
        while true {
            while sockets.areOpen, !Task.isCancelled { try? await Task.sleep(for: Self.interval) }
            await sockets.close()
            guard !Task.isCancelled else { return }
            logger.error("the sockets for calling names have closed, and are opened again; see doors.enum.listen")
            guard let next = await reopened(loop) else { return }
            sockets = next
        }
    }

    /// Opens the sockets as soon as possible; nil at the end of the service.
    private func reopened(_ loop: any EventLoop) async -> Sockets? {
        while !Task.isCancelled {
            do {
                return try await open(loop)
            } catch {
                logger.error("\(error)")
                try? await Task.sleep(for: Self.pause)
            }
        }
        return nil
    }

    private struct Sockets: Sendable {
        let datagrams: any Channel
        let connections: any Channel

        var areOpen: Bool { datagrams.isActive && connections.isActive }

        func close() async {
            try? await datagrams.close()
            try? await connections.close()
        }
    }

    private func open(_ loop: any EventLoop) async throws -> Sockets {
        // The number that the system chooses for UDP can be another program's over TCP.
        for _ in 0..<Self.portsTried where listen.port == 0 {
            if let sockets = try? await openBoth(loop) { return sockets }
        }
        return try await openBoth(loop)
    }

    private func openBoth(_ loop: any EventLoop) async throws -> Sockets {
        let address = try SocketAddress(ipAddress: listen.host, port: Int(listen.port))
        let datagrams = try await refusing(.udp) { try await self.openDatagrams(loop, address) }
        do {
            // With port 0 both have the port that the system has chosen for the first one.
            let same = datagrams.localAddress ?? address
            return Sockets(
                datagrams: datagrams, connections: try await refusing(.tcp) { try await self.openTCP(loop, same) })
        } catch {
            try? await datagrams.close()
            throw error
        }
    }

    private func refusing(
        _ wire: ListenRefusal.Wire, _ open: () async throws -> any Channel
    ) async throws -> any Channel {
        do {
            return try await open()
        } catch let error as IOError {
            throw ListenRefusal(
                wire, host: listen.host, port: Int(listen.port), code: error.errnoCode,
                key: "doors.enum.listen")
        }
    }

    private func openDatagrams(_ loop: any EventLoop, _ address: SocketAddress) async throws -> any Channel {
        let reception = reception
        return try await DatagramBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2_048))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DoorDatagrams(reception))
                }
            }
            .bind(to: address).get()
    }

    private func openTCP(_ loop: any EventLoop, _ address: SocketAddress) async throws -> any Channel {
        let reception = reception
        return try await ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 64)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ZoneConnection(reception))
                }
            }
            .bind(to: address).get()
    }
}

extension NumberZoneServer {
    /// Prepares the server of a section `doors.enum`.
    ///
    /// - Parameter names: by the rules of its trunk.
    package convenience init(
        _ door: HeraldConfiguration.Doors.CallingNames, _ names: DoorNames, counters: NumberZoneCounters,
        onListening: @escaping @Sendable (_ port: Int) -> Void, logger: Logger
    ) {
        let callingNames = CallingNames(
            names, umlauts: door.umlauts, reportsUnknown: door.unbranded == .unavailable, shortNames: door.shortNames)
        let zone = NumberZone(
            door.zone, uri: CallingNameURI(name: door.uri, unavailable: door.unavailableURI),
            lifetime: UInt32(door.ttl.components.seconds), find: { callingNames.find($0) })
        self.init(
            listen: door.listen,
            rules: NumberZoneRules(zone: zone, allowed: AllowedClients(door.allow), rate: door.rate),
            counters: counters, prepare: { CallingName.prepare(door.umlauts) }, onListening: onListening,
            logger: logger)
    }
}
