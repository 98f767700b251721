// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// The requests of a door over UDP and its responses.
///
/// The event loop of the door calls it for each datagram, so it never waits.
protocol DatagramReception: Sendable {
    /// The response to a datagram and its destination; nil for none.
    func response(to datagram: [UInt8], from client: SocketAddress) -> (bytes: [UInt8], destination: SocketAddress)?

    /// Counts a response that the system did not take.
    func countUnsent()
}

/// Responds to datagrams, each by a system call of its own. Used on its event loop only.
///
/// The source of a datagram may be forged, such as a broadcast address or one without a route. NIO closes a datagram channel
/// on nearly each error of a write, so one such source would close the door. Here an error ends one response.
final class DoorDatagrams<Reception: DatagramReception>: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let reception: Reception

    init(_ reception: Reception) { self.reception = reception }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        let datagram = Array(envelope.data.readableBytesView)
        guard let response = reception.response(to: datagram, from: envelope.remoteAddress) else { return }
        if !send(response.bytes, to: response.destination, on: context.channel) { reception.countUnsent() }
    }

    /// Sends a datagram without waiting; false where the system does not take it.
    ///
    /// A full socket drops it, as the network does: it would wait in memory.
    private func send(_ bytes: [UInt8], to destination: SocketAddress, on channel: any Channel) -> Bool {
        let sent = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            socket in
            destination.withSockAddr { address, length in
                sendto(socket, bytes, bytes.count, Int32(MSG_DONTWAIT), address, socklen_t(length))
            }
        }
        return sent == bytes.count
    }

    /// Errors of reads. NIO closes the socket where one does not pass, and the server opens it again.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
