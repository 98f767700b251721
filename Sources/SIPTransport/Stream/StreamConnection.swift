// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import NIOTLS
import SIPCore

/// A TCP or TLS connection: splits received bytes into messages, and writes outgoing messages.
///
/// Runs on its event loop only.
final class StreamConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The side that opened the connection.
    enum Origin: Sendable { case made, acceptedFromPeer, acceptedFromStranger }

    /// Identifies the connection.
    ///
    /// Never 0, never reused.
    let number: UInt64
    /// Position of its local address.
    let socket: Int
    let origin: Origin
    let isTLS: Bool
    private(set) var remote: PeerAddress
    private unowned let hub: StreamHub
    private var framer: StreamFramer
    private var channel: (any Channel)?
    private var certificate: PeerCertificate?
    /// The required name in the peer's certificate; nil for none.
    var provenName: String?
    private var isSecured: Bool
    private var lastByte: NIODeadline
    /// Start of an incomplete message or handshake; nil if there is none.
    private var unfinishedSince: NIODeadline?
    /// Received messages, offered to the worker together.
    ///
    /// While the inbox has no capacity for them, nothing is read.
    private var gathered: [StreamArrival] = []
    private var isRefused = false
    private var waitingBytes = 0
    /// Unwritten messages without a delivery token, concatenated.
    private var collected = ByteBuffer()
    /// True if messages were added since the last flush.
    private var hasUnflushed = false
    /// Messages queued before the connection and its TLS handshake are complete.
    ///
    /// Their waiting does not show a slow peer.
    private var early: [(bytes: [UInt8], token: DeliveryToken)] = []
    /// Bytes of these messages.
    ///
    /// They do not count as a reason to close the connection.
    private var earlyBytes = 0
    /// True if a keep-alive (RFC 5626) awaits its response.
    private var owesSign = false
    /// True once closing has begun.
    ///
    /// The connection accepts no message any more.
    private(set) var isClosing = false
    /// True if the received bytes cannot be parsed any more.
    private var isBroken = false
    /// True if a request on this connection can get its responses.
    var takesRequests: Bool { !isClosing && !isBroken }
    /// True if the connection failed or has ended.
    ///
    /// Further messages are reported as undelivered.
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

    /// Queues a message for `flush`, or until the connection is established.
    ///
    /// Returns true for the first message since the last flush.
    func send(_ bytes: [UInt8], token: DeliveryToken) -> Bool {
        guard channel != nil, isSecured else {
            // An immediate failure, for example for lack of a route or a descriptor, precedes the first message.
            if isGone || earlyBytes + bytes.count > hub.limits.early {
                hub.fail(token, on: number)
            } else {
                early.append((bytes, token))
                earlyBytes += bytes.count
            }
            return false
        }
        // Only bytes that the system did not accept show a peer that does not read.
        if waitingBytes + bytes.count > hub.limits.waiting { flush() }
        // The flush may have revealed the end of the connection.
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
        // A message with a token is written together with its predecessors. The token fails unless all of them are
        // written.
        if token != .none { write(for: token) }
        defer { hasUnflushed = true }
        return !hasUnflushed
    }

    /// Passes queued messages to the system in one call.
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

    /// Reports the queued messages of a failed connection as undelivered.
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
        // Messages received before the end are still handled, and offered only once.
        if !isRefused { offer() }
        if !isSecured, !isClosing { tellTrouble(NIOSSLError.uncleanShutdown) }
        hub.closed(self)
        channel = nil
        failEarly()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isSecured { hub.counters.add(.handshakesFailed) }
        // In TLS 1.3 a peer rejects the gateway's certificate after its own part of the handshake.
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

    /// Extracts complete messages.
    private func gather(_ channel: any Channel) {
        while let frame = framer.next() {
            // The next message has a time limit of its own.
            unfinishedSince = nil
            switch frame {
            case .message(let bytes): gathered.append(.message(bytes, flow(nil)))
            case .keepAlive: owesSign = true
            case .broken(let fault, let bytes):
                isBroken = true
                hub.counters.add(.closedBroken)
                gathered.append(.message(bytes, flow(fault)))
                // Gives the worker thread time to send its response.
                channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { self.close(nil) }
            }
        }
        // Applies to messages; a handshake has a time limit of its own.
        if isSecured { unfinishedSince = framer.isInsideMessage ? unfinishedSince ?? hub.now : nil }
    }

    /// Responds once to all keep-alives of a read.
    ///
    /// One write per keep-alive would delay other connections.
    private func giveSign(_ context: ChannelHandlerContext) {
        // A peer that does not read gets no response, which would only occupy memory.
        guard owesSign, context.channel.isWritable else { return }
        owesSign = false
        context.channel.writeAndFlush(context.channel.allocator.buffer(bytes: [13, 10]), promise: nil)
    }

    private func flow(_ fault: StreamFault?) -> Flow {
        Flow(source: remote, socket: socket, connection: number, certificate: certificate, fault: fault)
    }

    /// Offers all received messages to the worker at once, so that it wakes once.
    ///
    /// Stops reading until the inbox has capacity.
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

    /// Closes the connection if it is idle or has an incomplete message for too long.
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
    /// Converts a socket address; nil if it is not an IP address.
    init?(_ address: SocketAddress) {
        guard let host = address.ipAddress, let port = address.port else { return nil }
        self.init(host: Array(host.utf8)[...], port: UInt16(truncatingIfNeeded: port))
    }
}
