// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import SIPCore

/// All connections of a gateway: which there are, which one a message takes, and when one is made or refused.
///
/// Lives on one event loop and is touched by no other thread.
final class StreamHub {
    /// What a connection is found by when no number is given.
    private struct Way: Hashable {
        let socket: Int
        let remote: PeerAddress
    }

    /// Milliseconds after which unacknowledged bytes end a connection, instead of the system's quarter of an hour.
    static let deadPeerTimeout: ChannelOptions.Types.SocketOption.Value = 20_000

    let limits: StreamLimits
    let counters: StreamCounters
    private let loop: any EventLoop
    private let listeners: [Int: StreamListener]
    private let inboxes: [StreamInbox]
    private var connections: [UInt64: StreamConnection] = [:]
    private var byWay: [Way: UInt64] = [:]
    private var accepted: [PeerAddress: Int] = [:]
    /// Connections accepted from addresses at which no peer is known.
    private var strangers = 0
    private var peers = StreamPeers()
    private var lastNumber: UInt64 = 0
    private var told = ToldTroubles()
    private let onTrouble: @Sendable (StreamTrouble) -> Void

    init(
        loop: any EventLoop, listeners: [StreamListener], inboxes: [StreamInbox], limits: StreamLimits,
        counters: StreamCounters, onTrouble: @escaping @Sendable (StreamTrouble) -> Void
    ) {
        self.loop = loop
        self.listeners = Dictionary(listeners.map { ($0.position, $0) }) { first, _ in first }
        self.inboxes = inboxes
        self.limits = limits
        self.counters = counters
        self.onTrouble = onTrouble
    }

    /// The time of the event loop, which tests move by hand.
    var now: NIODeadline { loop.now }

    /// The worker that gets a connection's messages, always the same, so that they keep their order.
    func inbox(for number: UInt64) -> StreamInbox { inboxes[Int(number % UInt64(inboxes.count))] }

    /// Reports a message that was not delivered.
    func fail(_ token: DeliveryToken, on number: UInt64) { inbox(for: number).reportFailure(token: token) }

    /// Sets who is known, for connections that begin from now on.
    func setPeers(_ peers: StreamPeers) { self.peers = peers }

    // MARK: Connections

    /// Takes an accepted channel in, or throws, which closes it.
    func accept(_ channel: any Channel, on listener: StreamListener) throws {
        guard let remote = channel.remoteAddress.flatMap(PeerAddress.init) else { throw StreamRefusal.noAddress }
        let isStranger = !peers.isPeer(remote)
        guard connections.count < limits.connections - limits.reserved,
            !isStranger || strangers < limits.reserved,
            accepted[remote.network, default: 0] < limits.connectionsPerSource
        else {
            counters.add(.refused)
            throw StreamRefusal.tooMany
        }
        counters.add(.accepted)
        let connection = make(listener, isStranger ? .acceptedFromStranger : .acceptedFromPeer, remote)
        if let identity = listener.identity {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: identity.server))
        }
        try channel.pipeline.syncOperations.addHandler(connection)
    }

    /// Sends each by the connection named, else by one that leads there, else by a new one.
    func send(_ messages: [OutgoingMessage]) {
        var written: [StreamConnection] = []
        for message in messages {
            guard let connection = connection(for: message) else {
                counters.add(.refused)
                fail(message.token, on: 0)
                continue
            }
            if connection.send(message.bytes, token: message.token) { written.append(connection) }
        }
        // One call into the system for all that goes one way.
        for connection in written { connection.flush() }
    }

    private func connection(for message: OutgoingMessage) -> StreamConnection? {
        if let connection = connections[message.connection], !connection.isClosing { return connection }
        // An answer whose connection is gone: a stranger writes into his Via where it would lead (RFC 3261 §18.2.2).
        if message.connection != 0, message.destination.port == 0 || !peers.isPeer(message.destination) { return nil }
        let way = Way(socket: message.socket, remote: message.destination)
        if let number = byWay[way], let connection = connections[number], connection.takesRequests { return connection }
        guard let listener = listeners[message.socket], connections.count < limits.connections else { return nil }
        return connect(listener, way)
    }

    private func connect(_ listener: StreamListener, _ way: Way) -> StreamConnection {
        let connection = make(listener, .made, way.remote)
        connections[connection.number] = connection
        byWay[way] = connection.number
        let name = peers.serverNames[way.remote]
        connection.provenName = listener.identity == nil ? nil : name
        let bound = NIOLoopBound(connection, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(limits.connect.timeAmount)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.deadPeer, value: StreamHub.deadPeerTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let identity = listener.identity {
                        let context = name == nil ? identity.client : identity.namedClient
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: name)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(bound.value)
                }
            }
        guard let address = try? SocketAddress(way.remote),
            let local = try? SocketAddress(listener.address.with(port: 0))
        else {
            gone(connection)
            return connection
        }
        bootstrap.bind(to: local).connect(to: address).assumeIsolated().whenFailure { error in
            self.counters.add(.connectFailed)
            self.trouble(StreamTrouble(connection, error, self.limits), of: connection)
            self.gone(connection)
        }
        return connection
    }

    private func make(
        _ listener: StreamListener, _ origin: StreamConnection.Origin, _ remote: PeerAddress
    ) -> StreamConnection {
        lastNumber += 1
        return StreamConnection(
            number: lastNumber, socket: listener.position, origin: origin, remote: remote,
            isTLS: listener.identity != nil, hub: self)
    }

    /// A connection is there.
    func opened(_ connection: StreamConnection) {
        connections[connection.number] = connection
        if connection.origin == .made {
            counters.add(.connected)
        } else {
            // Who came by TLS has not shown the name that a connection made to the target asks for (RFC 5923 §9).
            if !connection.isTLS {
                byWay[Way(socket: connection.socket, remote: connection.remote)] = connection.number
            }
            accepted[connection.remote.network, default: 0] += 1
            if connection.origin == .acceptedFromStranger { strangers += 1 }
        }
        counters.setOpen(connections.count)
    }

    /// A connection can be used.
    func secured(_ connection: StreamConnection) {
        told.over(connection.remote, isMade: connection.origin == .made)
    }

    /// A connection did not come about.
    ///
    /// What strangers do is only counted.
    func trouble(_ trouble: StreamTrouble, of connection: StreamConnection) {
        guard connection.origin != .acceptedFromStranger, told.isNews(trouble) else { return }
        onTrouble(trouble)
    }

    /// A connection that was there is no more.
    func closed(_ connection: StreamConnection) {
        if connection.origin != .made, connections[connection.number] != nil {
            if connection.origin == .acceptedFromStranger { strangers -= 1 }
            let source = connection.remote.network
            let left = accepted[source, default: 1] - 1
            accepted[source] = left > 0 ? left : nil
        }
        gone(connection)
    }

    private func gone(_ connection: StreamConnection) {
        connections[connection.number] = nil
        let way = Way(socket: connection.socket, remote: connection.remote)
        if byWay[way] == connection.number { byWay[way] = nil }
        connection.failEarly()
        counters.setOpen(connections.count)
    }

    /// Closes connections that have been silent or half a message for too long.
    func sweep() {
        let now = now
        for connection in Array(connections.values) { connection.sweep(now) }
    }

    func closeAll() {
        for connection in Array(connections.values) { connection.close(nil) }
    }
}

extension PeerAddress {
    /// What one host may have at will: an IPv4 address, the 64 bits of an IPv6 network.
    fileprivate var network: PeerAddress { isIPv6 ? PeerAddress(ipv6High: high, low: 0, port: 0) : with(port: 0) }
}

/// Why a connection is closed before its first byte.
enum StreamRefusal: Error {
    case noAddress, tooMany
}

extension SocketAddress {
    /// Writes an address for the event loop.
    init(_ address: PeerAddress) throws {
        try self.init(ipAddress: address.bareHostText, port: Int(address.port))
    }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    /// `TCP_USER_TIMEOUT` (RFC 5482).
    static var deadPeer: ChannelOptions.Types.SocketOption { .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)) }
}
