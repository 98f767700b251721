// SPDX-License-Identifier: Apache-2.0

import Host
package import NIOCore
import NIOPosix
import Synchronization

/// Asks one sibling for its clock and whether it has the same secret; used by `herald doctor`.
package struct SiblingProbe: Sendable {
    /// The response of a sibling.
    package enum Result: Hashable, Sendable {
        /// Its clock less this machine's, in microseconds.
        case responded(clockOffset: Int64)
        case otherSecret
        case silent
    }

    private let address: SocketAddress
    private let keys: SiblingKeys
    private let now: @Sendable () -> SiblingLink.Now

    package init(_ address: SocketAddress, _ keys: SiblingKeys, now: @escaping @Sendable () -> SiblingLink.Now) {
        self.address = address
        self.keys = keys
        self.now = now
    }

    /// Sends up to three greetings, and waits at most `patience` for a response.
    package func ask(patience: Duration) async throws -> Result {
        let (responses, inbox) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(8))
        let local = try SocketAddress(ipAddress: address.protocol == .inet6 ? "::" : "0.0.0.0", port: 0)
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProbeHandler(inbox))
                }
            }
            .bind(to: local).get()
        let run = UInt64.random(in: 1 ... .max)
        let result = await firstOf(
            { () async -> Result in
                for await bytes in responses {
                    guard let datagram = SiblingDatagram(bytes, keys) else { return .otherSecret }
                    if datagram.kind == .response, datagram.toRun == run {
                        return .responded(clockOffset: datagram.sentAt - now().wallMicroseconds)
                    }
                }
                return .silent
            },
            {
                for _ in 0..<3 where !Task.isCancelled {
                    // A sibling of version 0.2 responds to the second one.
                    for form in [SiblingDatagram.Form.numbered, .unnumbered] {
                        var greeting = SiblingDatagram(
                            kind: .report, fromRun: run, toRun: 0, sentAt: now().wallMicroseconds)
                        (greeting.form, greeting.receiver) = (form, SiblingDatagram.place(address))
                        channel.writeAndFlush(
                            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: greeting.bytes(keys))),
                            promise: nil)
                    }
                    try? await Task.sleep(for: patience / 3)
                }
                return .silent
            })
        inbox.finish()
        try? await channel.close()
        return result ?? .silent
    }
}

private final class ProbeHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let inbox: AsyncStream<[UInt8]>.Continuation

    init(_ inbox: AsyncStream<[UInt8]>.Continuation) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        inbox.yield(Array(unwrapInboundIn(data).data.readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
