// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// One connection of a client: messages behind their lengths (RFC 1035 §4.2.2). Used on its event loop only.
///
/// It is closed when idle, after its lifetime, for a message of no use, and if the client does not read.
final class ZoneConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Longest time between two messages.
    private static let idle = TimeAmount.seconds(10)
    /// Longest time of a connection.
    private static let lifetime = TimeAmount.seconds(120)

    private let reception: NumberZoneReception
    private var source: [UInt8]?
    private var received = ByteBuffer()
    private var idleTimer: Scheduled<Void>?
    private var endTimer: Scheduled<Void>?

    init(_ reception: NumberZoneReception) { self.reception = reception }

    func channelActive(context: ChannelHandlerContext) {
        let source = AllowedClients.bytes(of: context.remoteAddress)
        guard reception.enter(source) else { return context.close(promise: nil) }
        self.source = source
        endTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lifetime) { context.close(promise: nil) }
        expectMessage(context)
        context.fireChannelActive()
    }

    private func expectMessage(_ context: ChannelHandlerContext) {
        idleTimer?.cancel()
        idleTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.idle) { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let source else { return }
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        while let length = received.getInteger(at: received.readerIndex, as: UInt16.self) {
            // Responses of this read count against the client only once the socket has not taken them.
            if !context.channel.isWritable { context.flush() }
            guard length <= DNSMessage.longestQuery, context.channel.isWritable else { return end(context) }
            guard received.readableBytes >= 2 + Int(length) else { break }
            received.moveReaderIndex(forwardBy: 2)
            guard let message = received.readBytes(length: Int(length)),
                let reply = reception.reply(over: source, to: message)
            else { return end(context) }
            var response = context.channel.allocator.buffer(capacity: reply.count + 2)
            response.writeInteger(UInt16(reply.count))
            response.writeBytes(reply)
            context.write(wrapOutboundOut(response), promise: nil)
            expectMessage(context)
        }
        received.discardReadBytes()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    /// Writes what is due, and closes.
    private func end(_ context: ChannelHandlerContext) {
        received.clear()
        context.flush()
        leave()
        context.close(promise: nil)
    }

    private func leave() {
        idleTimer?.cancel()
        endTimer?.cancel()
        (idleTimer, endTimer) = (nil, nil)
        if let source { reception.leave(source) }
        source = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
