// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Responds to datagrams. Used on its event loop only.
final class RedirectDatagrams: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let reception: RedirectReception

    init(_ reception: RedirectReception) { self.reception = reception }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        // A full socket drops responses, as the network does: they would wait in memory.
        guard context.channel.isWritable,
            let reply = reception.reply(to: Array(envelope.data.readableBytesView), from: envelope.remoteAddress)
        else { return }
        context.write(
            wrapOutboundOut(
                AddressedEnvelope(remoteAddress: reply.destination, data: ByteBuffer(bytes: reply.bytes))),
            promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    /// Errors of one datagram, such as an unreachable client, end nothing.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
