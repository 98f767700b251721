// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import NIOTLS
import SIPCore

/// One connection: cuts what it receives into messages and hands them on, writes what it is given.
///
/// Lives on its event loop and is touched by no other thread.
final class StreamConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Who opened it.
    enum Origin: Sendable { case made, acceptedFromPeer, acceptedFromStranger }

    /// Names it towards the element; never 0, never used again.
    let number: UInt64
    /// Position of the local address it belongs to.
    let socket: Int
    let origin: Origin
    let isTLS: Bool
    private(set) var remote: PeerAddress
    private unowned let hub: StreamHub
    private var framer: StreamFramer
    private var channel: (any Channel)?
    private var certificate: PeerCertificate?
    private var isSecured: Bool
    private var lastByte: NIODeadline
    /// When the message or the handshake that is not complete began; nil when nothing is.
    private var unfinishedSince: NIODeadline?
    /// A message there was no room for; nothing is read meanwhile.
    private var refused: (bytes: [UInt8], flow: Flow)?
    private var waitingBytes = 0
    /// Messages given before the connection was there.
    private var early: [(bytes: [UInt8], token: DeliveryToken)] = []
    /// It never came, or is over: what is still given to it is not delivered.
    private var isGone = false

    init(number: UInt64, socket: Int, origin: Origin, remote: PeerAddress, isTLS: Bool, hub: StreamHub) {
        self.number = number
        self.socket = socket
        self.origin = origin
        self.isTLS = isTLS
        self.remote = remote
        self.hub = hub
        isSecured = !isTLS
        framer = StreamFramer(largestMessage: hub.limits.largestMessage)
        lastByte = .now()
        unfinishedSince = isTLS ? .now() : nil
    }

    // MARK: Sending

    /// Writes a message, at once or as soon as the connection is there.
    func send(_ bytes: [UInt8], token: DeliveryToken) {
        guard let channel else {
            // What fails at once, for want of a route or a descriptor, has failed before the first message is given.
            if isGone { return hub.fail(token, on: number) }
            early.append((bytes, token))
            return
        }
        waitingBytes += bytes.count
        guard waitingBytes <= hub.limits.waiting else {
            hub.fail(token, on: number)
            return close(.closedFull)
        }
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.waitingBytes -= bytes.count
            if case .failure = result { self.hub.fail(token, on: self.number) }
        }
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: promise)
    }

    /// Gives up on a connection that never came.
    func failEarly() {
        isGone = true
        for message in early { hub.fail(message.token, on: number) }
        early = []
    }

    // MARK: Receiving

    func channelActive(context: ChannelHandlerContext) {
        channel = context.channel
        if let address = context.remoteAddress.flatMap(PeerAddress.init) { remote = address }
        hub.opened(self)
        let waiting = early
        early = []
        for message in waiting { send(message.bytes, token: message.token) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastByte = .now()
        framer.append(unwrapInboundIn(data).readableBytesView)
        handOn(context.channel)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            isSecured = true
            unfinishedSince = nil
            let peer = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
            certificate = peer.flatMap { PeerCertificate($0) }
        }
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hub.closed(self)
        channel = nil
        failEarly()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isSecured { hub.counters.add(.handshakesFailed) }
        context.close(promise: nil)
    }

    /// Hands on what is complete, until there is no more or no room for it.
    private func handOn(_ channel: any Channel) {
        while refused == nil, let frame = framer.next() {
            // What follows has as long as the one before it.
            unfinishedSince = nil
            switch frame {
            case .message(let bytes): offer(bytes, fault: nil, channel)
            // Who reads nothing gets none: each would wait in memory.
            case .keepAlive where !channel.isWritable: break
            case .keepAlive: channel.writeAndFlush(channel.allocator.buffer(bytes: [13, 10]), promise: nil)
            case .broken(let fault, let bytes):
                hub.counters.add(.closedBroken)
                offer(bytes, fault: fault, channel)
                // Long enough for the answer to get out, which comes from another thread.
                channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { self.close(nil) }
            }
        }
        // Of a message; a handshake has its own time.
        if isSecured { unfinishedSince = framer.isInsideMessage ? unfinishedSince ?? .now() : nil }
    }

    private func offer(_ bytes: [UInt8], fault: StreamFault?, _ channel: any Channel) {
        let flow = Flow(
            source: remote, socket: socket, connection: number, certificate: certificate, fault: fault)
        guard !hub.inbox(for: number).offer(bytes, flow) else { return }
        refused = (bytes, flow)
        channel.setOption(.autoRead, value: false).assumeIsolated().whenComplete { _ in }
        channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.offerAgain() }
    }

    private func offerAgain() {
        guard let channel, let waiting = refused else { return }
        guard hub.inbox(for: number).offer(waiting.bytes, waiting.flow) else {
            channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.offerAgain() }
            return
        }
        refused = nil
        handOn(channel)
        if refused == nil { channel.setOption(.autoRead, value: true).assumeIsolated().whenComplete { _ in } }
    }

    // MARK: Ending

    /// Closes it if it has been silent or half a message for too long.
    func sweep(_ now: NIODeadline) {
        if let since = unfinishedSince, refused == nil, now - since > hub.limits.unfinished.timeAmount {
            return close(.closedUnfinished)
        }
        if now - lastByte > hub.limits.idle.timeAmount { close(.closedIdle) }
    }

    func close(_ reason: StreamCounters.Event?) {
        if let reason { hub.counters.add(reason) }
        channel?.close(promise: nil)
    }
}

extension PeerAddress {
    /// Reads a socket address; nil for one that is no IP address.
    init?(_ address: SocketAddress) {
        guard let host = address.ipAddress, let port = address.port else { return nil }
        self.init(host: Array(host.utf8)[...], port: UInt16(truncatingIfNeeded: port))
    }
}
