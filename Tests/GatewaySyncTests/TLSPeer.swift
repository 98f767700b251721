// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTPS server on loopback that gives every request one response and keeps what it was sent.
final class TLSPeer: Sendable {
    private let received = Mutex("")
    private let channel = Mutex<(any Channel)?>(nil)

    /// Everything that came through TLS, of all connections.
    var text: String { received.withLock { $0 } }
    var url: String { "https://localhost:\(channel.withLock { $0?.localAddress?.port } ?? 0)" }

    init(_ files: (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey), response body: String) async throws {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: files.chain.map { .certificate($0) }, privateKey: .privateKey(files.key))
        let context = try NIOSSLContext(configuration: configuration)
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), Responder(peer: self, body: body),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
    }

    func stop() async throws { try await channel.withLock { $0 }?.close() }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let peer: TLSPeer
        private let body: String
        private var request = ""

        init(peer: TLSPeer, body: String) {
            self.peer = peer
            self.body = body
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            peer.received.withLock { $0 += text }
            request += text
            guard request.contains("\r\n\r\n") else { return }
            request = ""
            let response = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            context.writeAndFlush(NIOAny(ByteBuffer(string: response)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
