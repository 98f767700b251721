// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// The sockets of a test call's caller: one for messages of the gateway alone, and one for media that nobody reads.
struct TestCallSocket: Sendable {
    private let signalling: any Channel
    private let media: any Channel
    private let gateway: SocketAddress

    /// Opens both on the host that the gateway knows the caller by.
    ///
    /// - Parameter receive: gets each datagram of the gateway's address; on a thread of NIO.
    init(_ plan: TestCallPlan, receive: @escaping @Sendable ([UInt8]) -> Void) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let local = try SocketAddress(ipAddress: plan.host, port: 0)
        let gateway = try SocketAddress(ipAddress: plan.host, port: plan.port)
        self.gateway = gateway
        signalling = try await DatagramBootstrap(group: group)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(from: gateway, receive))
                }
            }
            .bind(to: local).get()
        // The kernel drops what its buffer cannot hold.
        media = try await DatagramBootstrap(group: group).channelOption(.autoRead, value: false).bind(to: local).get()
    }

    /// The port of the caller.
    var port: Int { signalling.localAddress?.port ?? 0 }
    /// The port of the session description.
    var mediaPort: Int { media.localAddress?.port ?? 0 }

    /// Sends a message to the gateway.
    func send(_ text: String) {
        let data = ByteBuffer(string: text)
        signalling.writeAndFlush(AddressedEnvelope(remoteAddress: gateway, data: data), promise: nil)
    }

    func close() async {
        try? await signalling.close()
        try? await media.close()
    }

    /// Drops datagrams of other senders, such as a forged response.
    ///
    /// Not by a connected socket: it would report a restart of the gateway as an error, and lose the datagram behind it.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private let gateway: SocketAddress
        private let receive: @Sendable ([UInt8]) -> Void

        init(from gateway: SocketAddress, _ receive: @escaping @Sendable ([UInt8]) -> Void) {
            (self.gateway, self.receive) = (gateway, receive)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let datagram = unwrapInboundIn(data)
            guard datagram.remoteAddress == gateway else { return }
            receive(Array(datagram.data.readableBytesView))
        }
    }
}
