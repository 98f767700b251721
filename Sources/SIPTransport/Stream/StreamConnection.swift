// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import NIOTLS
import SIPCore

/// One connection: splits received bytes into messages and forwards them; writes messages. Used on its event loop only.
final class StreamConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The side that opened it.
    enum Origin: Sendable { case made, acceptedFromPeer, acceptedFromUnknownPeer }

    /// Identifies it to the element; never 0, never reused.
    let number: UInt64
    /// Position of its local address.
    let socket: Int
    let origin: Origin
    let isTLS: Bool
    /// The peer whose part of the memory it uses.
    let owner: StreamMemory.Owner
    private(set) var remote: PeerAddress
    private unowned let hub: StreamHub
    private var framer: StreamFramer
    private var channel: (any Channel)?
    private var certificate: PeerCertificate?
    /// The required name of the far end's certificate; nil for none.
    var provenName: String?
    private var isSecured: Bool
    private var lastByte: NIODeadline
    /// Start of the incomplete message or handshake; nil without one.
    private var unfinishedSince: NIODeadline?
    /// Messages received together, to be offered together. While the inbox has no capacity, the connection is not read.
    private var gathered: [StreamArrival] = []
    private var isRefused = false
    private var waitingBytes = 0
    /// Unwritten messages without a delivery token, one after the other.
    private var collected = ByteBuffer()
    /// True if messages were added since the last flush.
    private var hasUnflushed = false
    /// Messages from before the connection was usable (for TLS, after its handshake).
    ///
    /// They are not written until then, so their number does not show whether the far end reads.
    private var early: [(bytes: [UInt8], token: DeliveryToken)] = []
    /// Bytes of those messages. They do not count towards the limit of waiting bytes.
    private var earlyBytes = 0
    /// True if keep-alive pings wait for a pong.
    private var owesSign = false
    /// True once closing has begun. It accepts no message then.
    private(set) var isClosing = false
    /// True once its received bytes are unreadable.
    private var isBroken = false
    /// True if responses to a request sent on it can arrive.
    var takesRequests: Bool { !isClosing && !isBroken }
    /// True if it never opened or has ended. Further messages are not delivered.
    private var isGone = false
    /// Bytes that the hub counts for it.
    private(set) var charged = 0
    /// True once its memory was taken from it.
    private var isReleased = false

    init(
        number: UInt64, socket: Int, origin: Origin, remote: PeerAddress, isTLS: Bool, owner: StreamMemory.Owner,
        hub: StreamHub
    ) {
        self.number = number
        self.socket = socket
        self.origin = origin
        (self.isTLS, self.owner) = (isTLS, owner)
        self.remote = remote
        self.hub = hub
        isSecured = !isTLS
        framer = StreamFramer(largestMessage: hub.limits.largestMessage)
        lastByte = hub.now
        unfinishedSince = isTLS ? hub.now : nil
    }

    // MARK: Sending

    /// Takes a message, to be written by `flush` or once the connection is usable.
    ///
    /// True for the first message since the last `flush`.
    func send(_ bytes: [UInt8], token: DeliveryToken) -> Bool {
        guard channel != nil, isSecured else {
            // An immediate failure, such as no route or no descriptor, has happened before the first message.
            if isGone || earlyBytes + bytes.count > hub.limits.early {
                hub.fail(token, on: number)
            } else {
                early.append((bytes, token))
                earlyBytes += bytes.count
                account()
            }
            return false
        }
        // Only bytes that the system did not accept show a far end that does not read.
        if waitingBytes + bytes.count > hub.limits.waiting { flush() }
        // The flush may have ended the connection.
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
        // As the last part of its piece: a piece not written as a whole was not delivered.
        if token != .none { write(for: token) }
        defer { hasUnflushed = true }
        return !hasUnflushed
    }

    /// Writes all messages since the last flush with one system call.
    func flush() {
        if collected.readableBytes > 0 { write(for: .none) }
        hasUnflushed = false
        channel?.flush()
        account()
    }

    private func write(for token: DeliveryToken) {
        guard let channel else { return }
        let bytes = collected
        collected = ByteBuffer()
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.waitingBytes -= bytes.readableBytes
            self.account()
            if case .failure = result { self.hub.fail(token, on: self.number) }
        }
        channel.write(bytes, promise: promise)
    }

    /// Fails a connection that never opened.
    func failEarly() {
        isGone = true
        for message in early { hub.fail(message.token, on: number) }
        early = []
    }

    // MARK: Receiving

    func channelActive(context: ChannelHandlerContext) {
        // It was given up before it opened.
        guard !isReleased else { return context.close(promise: nil) }
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
        guard !isReleased else { return }
        lastByte = hub.now
        framer.append(unwrapInboundIn(data).readableBytesView)
        gather(context.channel)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isRefused { offer() }
        framer.release()
        account()
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
        // Messages received before the end count. There is no second try.
        if !isRefused { offer() }
        if !isSecured, !isClosing { reportTrouble(NIOSSLError.uncleanShutdown) }
        if isSecured, !isBroken, unfinishedSince != nil, framer.isInsideMessage {
            let reason = "it ended inside a message, which is lost"
            hub.trouble(StreamTrouble(self, reason, isClosing: true), of: self)
        }
        hub.closed(self)
        channel = nil
        failEarly()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isSecured { hub.counters.add(.handshakesFailed) }
        // In TLS 1.3, a far end rejects the gateway's certificate after its side of the handshake has ended.
        var isAlert = false
        if case BoringSSLError.sslError = error { isAlert = true }
        if !isSecured || isAlert { reportTrouble(error) }
        isClosing = true
        context.close(promise: nil)
    }

    private func provesName() -> Bool {
        guard let provenName else { return true }
        return certificate?.proves(provenName) ?? false
    }

    private func reportTrouble(_ error: any Error) { hub.trouble(StreamTrouble(self, error, hub.limits), of: self) }

    /// Extracts the complete messages.
    private func gather(_ channel: any Channel) {
        while let frame = framer.next() {
            // The next message has its own time limit.
            unfinishedSince = nil
            switch frame {
            case .message(let bytes): gathered.append(.message(bytes, flow(nil)))
            case .keepAlive: owesSign = true
            case .broken(let fault, let bytes):
                isBroken = true
                hub.counters.add(.closedBroken)
                gathered.append(.message(bytes, flow(fault)))
                // Long enough for the response to be sent; it comes from another thread.
                channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { self.close(nil) }
            }
        }
        // Only for a message: a handshake has its own time limit.
        if isSecured { unfinishedSince = framer.isInsideMessage ? unfinishedSince ?? hub.now : nil }
    }

    /// Sends one pong for all pings of a read. A pong for each would be one write for four bytes read.
    private func giveSign(_ context: ChannelHandlerContext) {
        // A far end that does not read gets none: the pong would wait in memory.
        guard owesSign, context.channel.isWritable else { return }
        owesSign = false
        context.channel.writeAndFlush(context.channel.allocator.buffer(bytes: [13, 10]), promise: nil)
    }

    private func flow(_ fault: StreamFault?) -> Flow {
        Flow(source: remote, socket: socket, connection: number, certificate: certificate, fault: fault)
    }

    /// Offers the gathered messages together, so that the worker is woken once.
    ///
    /// Reads no more until the inbox has capacity.
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

    // MARK: Memory

    /// Reports the bytes that it holds, if they have changed.
    func account() {
        let held = isReleased ? 0 : heldBytes
        guard held != charged else { return }
        let change = held - charged
        charged = held
        hub.account(self, by: change)
    }

    private var heldBytes: Int {
        let base = isTLS ? StreamMemory.secureConnection : StreamMemory.connection
        let refused = isRefused ? gathered.reduce(0) { $0 + $1.bytes } : 0
        return base + framer.heldBytes + refused + waitingBytes + (isSecured && channel != nil ? 0 : earlyBytes)
    }

    /// Counts nothing more for it.
    func releaseMemory() {
        isReleased = true
        account()
    }

    /// Releases its memory at once and closes it.
    func giveUp() {
        (isReleased, isBroken) = (true, true)
        framer = StreamFramer(largestMessage: hub.limits.largestMessage)
        gathered = []
        if channel == nil { failEarly() }
        close(.closedMemory)
        account()
    }

    // MARK: Ending

    /// Closes it if it has been idle, or inside a message, for too long.
    func sweep(_ now: NIODeadline) {
        if let since = unfinishedSince, !isRefused, now - since > hub.limits.unfinished.timeAmount {
            if !isSecured {
                let reason = "its TLS handshake did not end within \(hub.limits.unfinished)"
                hub.trouble(StreamTrouble(self, reason), of: self)
            } else {
                let reason = "a message was not complete within \(hub.limits.unfinished); see streams.unfinished"
                hub.trouble(StreamTrouble(self, reason, isClosing: true), of: self)
            }
            unfinishedSince = nil
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
    /// Reads a socket address. Nil unless it is an IP address.
    init?(_ address: SocketAddress) {
        guard let host = address.ipAddress, let port = address.port else { return nil }
        self.init(host: Array(host.utf8)[...], port: UInt16(truncatingIfNeeded: port))
    }
}
