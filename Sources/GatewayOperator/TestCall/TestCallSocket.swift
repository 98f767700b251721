// SPDX-License-Identifier: Apache-2.0

import Host
import NIOCore
import NIOPosix
import SIPCore

/// The sockets of a test call's caller: one for messages of the gateway alone, and one for media that nobody reads.
struct TestCallSocket: Sendable {
    private let signalling: any Channel
    private let media: any Channel
    private let gateway: SocketAddress
    private let transport: TestCallPlan.Transport

    /// Opens both on the host that the gateway knows the caller by.
    ///
    /// - Parameters:
    ///   - receive: gets each message of the gateway; on a thread of NIO.
    ///   - disconnected: called at the end of a connection, also by `close`; on a thread of NIO.
    /// - Throws: `CommandFailure` if the gateway takes no connection.
    init(
        _ plan: TestCallPlan, receive: @escaping @Sendable ([UInt8]) -> Void,
        disconnected: @escaping @Sendable () -> Void = {}
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let local = try SocketAddress(ipAddress: plan.host, port: 0)
        gateway = try SocketAddress(ipAddress: plan.host, port: plan.port)
        transport = plan.transport
        signalling =
            switch plan.transport {
            case .udp: try await Self.datagrams(of: gateway, on: local, group, receive)
            case .tcp: try await Self.connection(to: gateway, from: local, group, receive, disconnected)
            }
        // The kernel drops what its buffer cannot hold.
        media = try await DatagramBootstrap(group: group).channelOption(.autoRead, value: false).bind(to: local).get()
    }

    private static func datagrams(
        of gateway: SocketAddress, on local: SocketAddress, _ group: any EventLoopGroup,
        _ receive: @escaping @Sendable ([UInt8]) -> Void
    ) async throws -> any Channel {
        try await DatagramBootstrap(group: group)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramReceiver(from: gateway, receive))
                }
            }
            .bind(to: local).get()
    }

    private static func connection(
        to gateway: SocketAddress, from local: SocketAddress, _ group: any EventLoopGroup,
        _ receive: @escaping @Sendable ([UInt8]) -> Void, _ disconnected: @escaping @Sendable () -> Void
    ) async throws -> any Channel {
        do {
            return try await ClientBootstrap(group: group)
                .connectTimeout(.seconds(4))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(StreamReceiver(receive, disconnected))
                    }
                }
                .bind(to: local).connect(to: gateway).get()
        } catch {
            throw CommandFailure("the gateway takes no TCP connection of a test call: \(error); see herald status")
        }
    }

    /// The port of the caller.
    var port: Int { signalling.localAddress?.port ?? 0 }
    /// The port of the session description.
    var mediaPort: Int { media.localAddress?.port ?? 0 }

    /// Sends a message to the gateway.
    func send(_ text: String) {
        let data = ByteBuffer(string: text)
        switch transport {
        case .udp: signalling.writeAndFlush(AddressedEnvelope(remoteAddress: gateway, data: data), promise: nil)
        case .tcp: signalling.writeAndFlush(data, promise: nil)
        }
    }

    func close() async {
        try? await signalling.close()
        try? await media.close()
    }

    /// Drops datagrams of other senders, such as a forged response.
    ///
    /// Not by a connected socket: it would report a restart of the gateway as an error, and lose the datagram behind it.
    private final class DatagramReceiver: ChannelInboundHandler {
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

    /// Cuts the bytes of a connection into messages (RFC 3261 §18.3).
    private final class StreamReceiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var framer = StreamFramer(largestMessage: 65_535)
        private let receive: @Sendable ([UInt8]) -> Void
        private let disconnected: @Sendable () -> Void

        init(_ receive: @escaping @Sendable ([UInt8]) -> Void, _ disconnected: @escaping @Sendable () -> Void) {
            (self.receive, self.disconnected) = (receive, disconnected)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            framer.append(unwrapInboundIn(data).readableBytesView)
            while let frame = framer.next() {
                switch frame {
                case .message(let bytes): receive(Array(bytes))
                case .keepAlive: break
                case .broken: context.close(promise: nil)
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) { disconnected() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
