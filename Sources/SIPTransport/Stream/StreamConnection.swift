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
    /// The name the far end's certificate must have; nil for none.
    var provenName: String?
    private var isSecured: Bool
    private var lastByte: NIODeadline
    /// When the message or the handshake that is not complete began; nil when nothing is.
    private var unfinishedSince: NIODeadline?
    /// Messages that came at once, to be offered together; if there was no room for them nothing is read meanwhile.
    private var gathered: [StreamArrival] = []
    private var isRefused = false
    private var waitingBytes = 0
    /// Messages that nobody wants to hear of and that are not written yet, one after the other.
    private var collected = ByteBuffer()
    /// Something was given since the last flush.
    private var hasUnflushed = false
    /// Messages given before the connection was there and, for TLS, its handshake over: until then nothing is written, so
    /// that what waits says nothing of the far end.
    private var early: [(bytes: [UInt8], token: DeliveryToken)] = []
    /// Bytes of those: held already when the connection came, they are no reason to give it up.
    private var earlyBytes = 0
    /// Signs of life were asked for and not yet given.
    private var owesSign = false
    /// Its end has begun: it takes no message any more.
    private(set) var isClosing = false
    /// What it receives is not understood any more.
    private var isBroken = false
    /// Whether a request given to it would get its answers.
    var takesRequests: Bool { !isClosing && !isBroken }
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
        lastByte = hub.now
        unfinishedSince = isTLS ? hub.now : nil
    }

    // MARK: Sending

    /// Takes a message, to be written by `flush` or as soon as the connection is there; true when it is the first to wait
    /// for `flush`.
    func send(_ bytes: [UInt8], token: DeliveryToken) -> Bool {
        guard channel != nil, isSecured else {
            // What fails at once, for want of a route or a descriptor, has failed before the first message is given.
            if isGone || earlyBytes + bytes.count > hub.limits.early {
                hub.fail(token, on: number)
            } else {
                early.append((bytes, token))
                earlyBytes += bytes.count
            }
            return false
        }
        // Only what the system was offered and did not take shows a far end that does not read.
        if waitingBytes + bytes.count > hub.limits.waiting { flush() }
        // Where that showed that the connection is over.
        guard channel != nil else {
            hub.fail(token, on: number)
            return false
        }
        guard waitingBytes + bytes.count <= hub.limits.waiting + earlyBytes else {
            hub.fail(token, on: number)
            close(.closedFull)
            return false
        }
        waitingBytes += bytes.count
        collected.writeBytes(bytes)
        // In a piece of which it is the last: what was not written as a whole was not delivered.
        if token != .none { write(for: token) }
        defer { hasUnflushed = true }
        return !hasUnflushed
    }

    /// Gives the system what was taken since the last time; each message by itself would be a call into it.
    func flush() {
        if collected.readableBytes > 0 { write(for: .none) }
        hasUnflushed = false
        channel?.flush()
    }

    private func write(for token: DeliveryToken) {
        guard let channel else { return }
        let bytes = collected
        collected = ByteBuffer()
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.waitingBytes -= bytes.readableBytes
            if case .failure = result { self.hub.fail(token, on: self.number) }
        }
        channel.write(bytes, promise: promise)
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
        if isSecured {
            hub.secured(self)
            sendEarly()
        }
        context.fireChannelActive()
    }

    private func sendEarly() {
        let waiting = early
        early = []
        for message in waiting { _ = send(message.bytes, token: message.token) }
        flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastByte = hub.now
        framer.append(unwrapInboundIn(data).readableBytesView)
        gather(context.channel)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isRefused { offer() }
        giveSign(context)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            let peer = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
            certificate = peer.flatMap { PeerCertificate($0) }
            guard provesName() else {
                hub.counters.add(.handshakesFailed)
                hub.trouble(StreamTrouble(self, StreamTrouble.otherName(certificate?.names ?? [])), of: self)
                isClosing = true
                return context.close(promise: nil)
            }
            isSecured = true
            unfinishedSince = nil
            hub.secured(self)
            sendEarly()
        }
        if case ChannelEvent.inputClosed = event { close(nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // What came before the end counts; there is no second try.
        if !isRefused { offer() }
        if !isSecured, !isClosing { tellTrouble(NIOSSLError.uncleanShutdown) }
        hub.closed(self)
        channel = nil
        failEarly()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isSecured { hub.counters.add(.handshakesFailed) }
        // In TLS 1.3 a far end that does not like the gateway's certificate says so when the handshake is over for it.
        var isAlert = false
        if case BoringSSLError.sslError = error { isAlert = true }
        if !isSecured || isAlert { tellTrouble(error) }
        isClosing = true
        context.close(promise: nil)
    }

    private func provesName() -> Bool {
        guard let provenName else { return true }
        return certificate?.proves(provenName) ?? false
    }

    private func tellTrouble(_ error: any Error) { hub.trouble(StreamTrouble(self, error, hub.limits), of: self) }

    /// Cuts off what is complete.
    private func gather(_ channel: any Channel) {
        while let frame = framer.next() {
            // What follows has as long as the one before it.
            unfinishedSince = nil
            switch frame {
            case .message(let bytes): gathered.append(.message(bytes, flow(nil)))
            case .keepAlive: owesSign = true
            case .broken(let fault, let bytes):
                isBroken = true
                hub.counters.add(.closedBroken)
                gathered.append(.message(bytes, flow(fault)))
                // Long enough for the answer to get out, which comes from another thread.
                channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { self.close(nil) }
            }
        }
        // Of a message; a handshake has its own time.
        if isSecured { unfinishedSince = framer.isInsideMessage ? unfinishedSince ?? hub.now : nil }
    }

    /// One sign of life for all that a turn asked for: each by itself would be a write for four bytes read, while every other
    /// connection waits.
    private func giveSign(_ context: ChannelHandlerContext) {
        // Who reads nothing gets none: it would wait in memory.
        guard owesSign, context.channel.isWritable else { return }
        owesSign = false
        context.channel.writeAndFlush(context.channel.allocator.buffer(bytes: [13, 10]), promise: nil)
    }

    private func flow(_ fault: StreamFault?) -> Flow {
        Flow(source: remote, socket: socket, connection: number, certificate: certificate, fault: fault)
    }

    /// Hands on what was gathered, at once so that the worker is woken once; reads no more until there is room for it.
    private func offer() {
        guard !gathered.isEmpty else { return }
        let wasRefused = isRefused
        isRefused = !hub.inbox(for: number).offer(gathered)
        if !isRefused { gathered.removeAll(keepingCapacity: true) }
        guard let channel else { return }
        if isRefused != wasRefused {
            channel.setOption(.autoRead, value: !isRefused).assumeIsolated().whenComplete { _ in }
        }
        if isRefused {
            channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.offer() }
        }
    }

    // MARK: Ending

    /// Closes it if it has been silent or half a message for too long.
    func sweep(_ now: NIODeadline) {
        if let since = unfinishedSince, !isRefused, now - since > hub.limits.unfinished.timeAmount {
            if !isSecured {
                let reason = "its TLS handshake did not end within \(hub.limits.unfinished)"
                hub.trouble(StreamTrouble(self, reason), of: self)
            }
            return close(.closedUnfinished)
        }
        if now - lastByte > hub.limits.idle.timeAmount { close(.closedIdle) }
    }

    func close(_ reason: StreamCounters.Event?) {
        if let reason { hub.counters.add(reason) }
        isClosing = true
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
