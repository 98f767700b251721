// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
import Host
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves the redirect door over UDP (RFC 3261 §18.2.1).
///
/// It has a thread of its own. The call path shares with it only snapshots that are read without a wait.
package final class RedirectServer: Service {
    private let listen: EndpointAddress
    private let reception: RedirectReception
    private let onListening: @Sendable (_ port: Int) -> Void
    private let logger: Logger

    /// Time between two looks at the socket.
    private static let interval = Duration.seconds(1)
    /// Time between two attempts to open it again.
    private static let pause = Duration.seconds(5)
    /// Bytes of the largest datagram (RFC 3261 §18.1.1).
    private static let longestDatagram = 65_535
    /// Bytes of the socket for requests that wait, as far as the system allows.
    private static let receiveBuffer: SocketOptionValue = 4_194_304

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameters:
    ///   - listen: a local address; port 0 for a port of the system's choice.
    ///   - onListening: called with the port once the socket is open.
    package init(
        listen: EndpointAddress, rules: RedirectRules, counters: RedirectCounters,
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }, logger: Logger
    ) {
        self.listen = listen
        reception = RedirectReception(rules, counters: counters, logger: logger)
        (self.onListening, self.logger) = (onListening, logger)
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound at the start.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let first = try await open(group)
            onListening(first.localAddress?.port ?? 0)
            await cancelWhenGracefulShutdown { await self.watch(first, group) }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    /// Opens the socket again when it has closed, until the service ends.
    private func watch(_ first: any Channel, _ group: any EventLoopGroup) async {
        var channel = first
        while true {
            while channel.isActive, !Task.isCancelled { try? await Task.sleep(for: Self.interval) }
            try? await channel.close()
            guard !Task.isCancelled else { return }
            logger.error("the socket of the redirect door has closed, and is opened again; see doors.redirect.listen")
            guard let next = await reopened(group) else { return }
            channel = next
        }
    }

    /// Opens the socket as soon as possible; nil at the end of the service.
    private func reopened(_ group: any EventLoopGroup) async -> (any Channel)? {
        while !Task.isCancelled {
            do {
                return try await open(group)
            } catch {
                logger.error("\(error)")
                try? await Task.sleep(for: Self.pause)
            }
        }
        return nil
    }

    private func open(_ group: any EventLoopGroup) async throws -> any Channel {
        let reception = reception
        let bootstrap = DatagramBootstrap(group: group)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.longestDatagram))
            .channelOption(.socketOption(.so_rcvbuf), value: Self.receiveBuffer)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DoorDatagrams(reception))
                }
            }
        do {
            return try await bootstrap.bind(to: SocketAddress(ipAddress: listen.host, port: Int(listen.port))).get()
        } catch let error as IOError {
            throw ListenRefusal(
                .udp, host: listen.host, port: Int(listen.port), code: error.errnoCode, key: "doors.redirect.listen")
        }
    }
}

extension RedirectServer {
    /// Prepares the server of a section `doors.redirect`.
    ///
    /// - Parameter names: by the rules of its trunk.
    package convenience init(
        _ section: HeraldConfiguration.Doors.Redirect, _ door: RedirectDoor, counters: RedirectCounters,
        onListening: @escaping @Sendable (_ port: Int) -> Void, logger: Logger
    ) {
        self.init(
            listen: section.listen,
            rules: RedirectRules(
                door: door, allowed: AllowedClients(section.allow),
                places: NamePlaces(section.nameIn, clients: section.clients), rate: section.rate),
            counters: counters, onListening: onListening, logger: logger)
    }
}
