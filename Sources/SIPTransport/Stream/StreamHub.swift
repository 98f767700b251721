// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import SIPCore

/// All connections of a gateway.
///
/// Chooses the connection of a message, and opens or refuses connections.
///
/// Used on one event loop only.
final class StreamHub {
    /// Key of a connection for messages without a connection number.
    private struct Way: Hashable {
        let socket: Int
        let remote: PeerAddress
    }

    /// Milliseconds before unacknowledged bytes end a connection. The system's default is a quarter of an hour.
    static let deadPeerTimeout: ChannelOptions.Types.SocketOption.Value = 20_000

    let limits: StreamLimits
    let counters: StreamCounters
    private let loop: any EventLoop
    private let listeners: [Int: StreamListener]
    private let inboxes: [StreamInbox]
    private var connections: [UInt64: StreamConnection] = [:]
    private var byWay: [Way: UInt64] = [:]
    private var accepted: [PeerAddress: Int] = [:]
    /// Connections accepted from unknown peers.
    private var unknownPeers = 0
    private var peers = StreamPeers()
    private var memory: StreamMemory
    /// The number of the newest connection.
    ///
    /// It begins at random, so that the number in a dialog's cookie belongs to no connection of another process.
    private var lastNumber = UInt64.random(in: 1...(1 << 62))
    private var reported = ReportedTroubles()
    private let onTrouble: @Sendable (StreamTrouble) -> Void

    init(
        loop: any EventLoop, listeners: [StreamListener], inboxes: [StreamInbox], limits: StreamLimits,
        counters: StreamCounters, onTrouble: @escaping @Sendable (StreamTrouble) -> Void
    ) {
        self.loop = loop
        self.listeners = Dictionary(listeners.map { ($0.position, $0) }) { first, _ in first }
        self.inboxes = inboxes
        self.limits = limits
        memory = StreamMemory(limit: limits.memory)
        self.counters = counters
        self.onTrouble = onTrouble
    }

    /// The time of the event loop, which tests move by hand.
    var now: NIODeadline { loop.now }

    /// Returns the worker of a connection's messages. It is always the same, so that messages keep their order.
    func inbox(for number: UInt64) -> StreamInbox { inboxes[Int(number % UInt64(inboxes.count))] }

    /// Reports a message as undelivered.
    func fail(_ token: DeliveryToken, on number: UInt64) { inbox(for: number).reportFailure(token: token) }

    /// Sets the known peers for new connections.
    func setPeers(_ peers: StreamPeers) { self.peers = peers }

    // MARK: Connections

    /// Registers an accepted channel. An error closes it.
    func accept(_ channel: any Channel, on listener: StreamListener) throws {
        guard let remote = channel.remoteAddress.flatMap(PeerAddress.init) else { throw StreamRefusal.noAddress }
        let owner = owner(of: remote)
        let isUnknownPeer = owner == .unknownPeers
        guard connections.count < limits.connections - limits.reserved,
            !isUnknownPeer || unknownPeers < limits.reserved,
            accepted[remote.network, default: 0] < limits.connectionsPerSource,
            memory.allows(StreamMemory.connection, of: owner)
        else {
            counters.add(.refused)
            throw StreamRefusal.tooMany
        }
        counters.add(.accepted)
        let connection = make(listener, isUnknownPeer ? .acceptedFromUnknownPeer : .acceptedFromPeer, remote, owner)
        if let identity = listener.identity {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: identity.server))
        }
        try channel.pipeline.syncOperations.addHandler(connection)
    }

    /// Sends each message by its named connection, else by one to its destination, else by a new one.
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
        // One system call for all messages of a connection.
        for connection in written { connection.flush() }
    }

    private func connection(for message: OutgoingMessage) -> StreamConnection? {
        if let connection = connections[message.connection], !connection.isClosing { return connection }
        // A response without its connection: an unknown peer's Via must not choose a destination (RFC 3261 §18.2.2).
        if message.connection != 0, message.destination.port == 0 || !peers.isPeer(message.destination) { return nil }
        let way = Way(socket: message.socket, remote: message.destination)
        if let number = byWay[way], let connection = connections[number], connection.takesRequests { return connection }
        guard let listener = listeners[message.socket], connections.count < limits.connections else { return nil }
        return connect(listener, way)
    }

    private func connect(_ listener: StreamListener, _ way: Way) -> StreamConnection {
        let connection = make(listener, .made, way.remote, owner(of: way.remote))
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
        _ listener: StreamListener, _ origin: StreamConnection.Origin, _ remote: PeerAddress,
        _ owner: StreamMemory.Owner
    ) -> StreamConnection {
        lastNumber += 1
        return StreamConnection(
            number: lastNumber, socket: listener.position, origin: origin, remote: remote,
            isTLS: listener.identity != nil, owner: owner, hub: self)
    }

    private func owner(of remote: PeerAddress) -> StreamMemory.Owner {
        peers.number(remote).map { .peer($0) } ?? .unknownPeers
    }

    /// Counts the bytes that a connection has taken or released; closes connections while a limit is exceeded.
    func account(_ connection: StreamConnection, by bytes: Int) {
        memory.change(connection.owner, by: bytes)
        counters.setHeld(memory.total)
        guard bytes > 0 else { return }
        // Every round ends a connection, or finds none of the owner.
        while let (owner, excess) = memory.excess(after: connection.owner), relieve(owner, of: excess) {}
    }

    /// Closes those connections of an owner that hold most; false without any.
    private func relieve(_ owner: StreamMemory.Owner, of bytes: Int) -> Bool {
        let own = connections.values.filter { $0.owner == owner && $0.charged > 0 }
        var released = 0
        for connection in own.sorted(by: { $0.charged > $1.charged }) where released < bytes {
            released += connection.charged
            trouble(StreamTrouble(closing: connection, limit: memory.limit(of: owner)), of: connection)
            connection.giveUp()
        }
        return released > 0
    }

    /// Handles an opened connection.
    func opened(_ connection: StreamConnection) {
        connections[connection.number] = connection
        connection.account()
        if connection.origin == .made {
            counters.add(.connected)
        } else {
            // An incoming TLS connection has not proved the name that an outgoing one to the target requires (RFC 5923
            // §9).
            if !connection.isTLS {
                byWay[Way(socket: connection.socket, remote: connection.remote)] = connection.number
            }
            accepted[connection.remote.network, default: 0] += 1
            if connection.origin == .acceptedFromUnknownPeer { unknownPeers += 1 }
        }
        counters.setOpen(connections.count)
    }

    /// Handles a connection that has become usable.
    func secured(_ connection: StreamConnection) {
        reported.over(connection.remote, isMade: connection.origin == .made)
    }

    /// Reports a connection that could not be established. Failures of unknown peers are only counted.
    func trouble(_ trouble: StreamTrouble, of connection: StreamConnection) {
        guard connection.origin != .acceptedFromUnknownPeer, reported.isNews(trouble) else { return }
        onTrouble(trouble)
    }

    /// Handles the end of an opened connection.
    func closed(_ connection: StreamConnection) {
        if connection.origin != .made, connections[connection.number] != nil {
            if connection.origin == .acceptedFromUnknownPeer { unknownPeers -= 1 }
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
        connection.releaseMemory()
        counters.setOpen(connections.count)
    }

    /// Closes connections that have been idle, or inside a message, for too long.
    func sweep() {
        let now = now
        for connection in Array(connections.values) { connection.sweep(now) }
    }

    func closeAll() {
        for connection in Array(connections.values) { connection.close(nil) }
    }
}

extension PeerAddress {
    /// The addresses that one host can use at will: an IPv4 address, or an IPv6 network of 64 bits.
    fileprivate var network: PeerAddress { isIPv6 ? PeerAddress(ipv6High: high, low: 0, port: 0) : with(port: 0) }
}

/// The reason for closing a connection at once.
enum StreamRefusal: Error {
    case noAddress, tooMany
}

extension SocketAddress {
    /// Makes an address for the event loop.
    init(_ address: PeerAddress) throws {
        try self.init(ipAddress: address.bareHostText, port: Int(address.port))
    }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    /// `TCP_USER_TIMEOUT` (RFC 5482).
    static var deadPeer: ChannelOptions.Types.SocketOption { .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)) }

    /// Binds an address that another machine has at present.
    static func freeBind(isIPv6: Bool) -> ChannelOptions.Types.SocketOption {
        isIPv6
            ? .init(level: .ipv6, name: .init(rawValue: IPV6_FREEBIND))
            : .init(level: .ip, name: .init(rawValue: IP_FREEBIND))
    }
}
