// SPDX-License-Identifier: Apache-2.0

import Host
import NIOCore
import NIOPosix
public import SIPCore

/// SIP over TCP and TLS (RFC 3261 §18): accepts, connects, frames, and forwards whole messages to the workers.
///
/// One event loop serves all connections. `send` is thread-safe and never blocks.
public final class StreamTransport: Sendable {
    public let counters = StreamCounters()
    private let listeners: [StreamListener]
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let hub: NIOLoopBoundBox<StreamHub>
    private let outbox: StreamOutbox
    private let sweepInterval: TimeAmount

    /// Prepares the streams.
    ///
    /// Sockets are opened by `start`.
    ///
    /// - Parameters:
    ///   - inboxes: one for each worker.
    ///   - onTrouble: called for connections with peers that could not be established. It runs on the event loop and
    ///     must not block.
    public init(
        listeners: [StreamListener], inboxes: [StreamInbox], limits: StreamLimits = .init(),
        onTrouble: @escaping @Sendable (StreamTrouble) -> Void = { _ in }
    ) {
        self.listeners = listeners
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        self.loop = loop
        let counters = counters
        hub = NIOLoopBoundBox.makeBoxSendingValue(
            StreamHub(
                loop: loop, listeners: listeners, inboxes: inboxes, limits: limits, counters: counters,
                onTrouble: onTrouble),
            eventLoop: loop)
        outbox = StreamOutbox()
        let shortest = min(limits.idle, limits.unfinished) / 4
        sweepInterval = min(.seconds(1), shortest.timeAmount)
    }

    /// Listens on every address.
    ///
    /// - Returns: the bound addresses. A port 0 is replaced by the kernel's choice.
    /// - Throws: `StreamListenError` for the first address that cannot be bound. No socket stays open then.
    public func start() async throws -> [Int: PeerAddress] {
        var bound: [Int: PeerAddress] = [:]
        for listener in listeners {
            let hub = hub
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.deadPeer, value: StreamHub.deadPeerTimeout)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try hub.value.accept(channel, on: listener) }
                }
            // As for UDP, an IPv6 socket takes no IPv4: 0.0.0.0 and [::] can share a port, and a peer has one address.
            if listener.address.isIPv6 {
                _ = bootstrap.serverChannelOption(
                    ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only), value: 1)
            }
            if listener.mayBeAbsent {
                _ = bootstrap.serverChannelOption(.freeBind(isIPv6: listener.address.isIPv6), value: 1)
            }
            do {
                let channel = try await bootstrap.bind(to: SocketAddress(listener.address)).get()
                bound[listener.position] = channel.localAddress.flatMap(PeerAddress.init) ?? listener.address
            } catch {
                await stop()
                throw StreamListenError(listener.address, error)
            }
        }
        let hub = hub
        loop.scheduleRepeatedTask(initialDelay: sweepInterval, delay: sweepInterval) { _ in hub.value.sweep() }
        return bound
    }

    /// Sends messages.
    ///
    /// Each by its named connection while that is open, else by one to its destination, else by a new one (RFC 3261
    /// §18.1.1, §18.2.2). An undelivered message is reported to a worker's inbox with its token.
    public func send(_ messages: [OutgoingMessage]) {
        guard outbox.append(messages) else { return }
        let (hub, outbox) = (hub, outbox)
        loop.execute { hub.value.send(outbox.drain()) }
    }

    /// Sets the known peers for new connections. Any thread.
    public func setPeers(_ peers: StreamPeers) {
        let hub = hub
        loop.execute { hub.value.setPeers(peers) }
    }

    /// Reloads the certificate files of every TLS address.
    ///
    /// - Throws: `TLSIdentityError` for the first unusable one. That address keeps its earlier files.
    public func reloadIdentities() throws(TLSIdentityError) {
        for listener in listeners { try listener.identity?.reload() }
    }

    /// Reads the certificate files of every TLS address, and changes none.
    ///
    /// - Throws: `TLSIdentityError` for the first unusable one.
    public func checkIdentities() throws(TLSIdentityError) {
        for listener in listeners { try listener.identity?.check() }
    }

    /// Closes all sockets.
    public func stop() async {
        let hub = hub
        try? await loop.submit { hub.value.closeAll() }.get()
        try? await group.shutdownGracefully()
    }
}

/// A TCP or TLS address could not be opened. The program ends with this message before the first call.
public struct StreamListenError: Error, CustomStringConvertible {
    public let description: String

    init(_ address: PeerAddress, _ error: any Error) {
        description =
            (error as? IOError).map {
                ListenRefusal(.tcp, "\(address)", code: $0.errnoCode, key: "listen.address").description
            } ?? "cannot listen on TCP \(address): \(error)"
    }
}
