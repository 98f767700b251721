// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Responds to datagrams. Used on its event loop only.
final class RedirectDatagrams: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let reception: RedirectReception

    init(_ reception: RedirectReception) { self.reception = reception }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard let reply = reception.reply(to: Array(envelope.data.readableBytesView), from: envelope.remoteAddress)
        else { return }
        if !DatagramReply.send(reply.bytes, to: reply.destination, on: context.channel) { reception.countUnsent() }
    }

    /// Errors of reads. NIO closes the socket where one does not pass, and the server opens it again.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
