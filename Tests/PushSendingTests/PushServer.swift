// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import PushSending
import Synchronization
import Testing
import TrustFixtures

/// A push service of a test on loopback: HTTP/1.1 or HTTP/2, plain or with a certificate of the test's authority.
final class PushServer: Sendable {
    struct Request: Sendable {
        var method = ""
        var path = ""
        var headers = HTTPHeaders()
        var body: [UInt8] = []
        var isHTTP2 = false

        var text: String { String(decoding: body, as: UTF8.self) }
        func header(_ name: String) -> String? { headers.first(name: name) }
    }

    enum Reply: Sendable {
        case status(Int, _ headers: HTTPHeaders = [:], _ body: String = "")
        /// A status and the start of a body that never ends.
        case stall(Int)
        case silence
    }

    /// The name in the certificate, which resolves to loopback in tests alone.
    static let host = "push.example"

    let roots: [NIOSSLCertificate]
    private let isPlain: Bool
    private let received = Mutex<[Request]>([])
    private let counted = Mutex(0)
    private let channel = Mutex<(any Channel)?>(nil)
    private let reply: @Sendable (Request, Int) -> Reply

    var requests: [Request] { received.withLock { $0 } }
    /// Connections that were accepted.
    var connections: Int { counted.withLock { $0 } }
    var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }
    var url: String { isPlain ? "http://127.0.0.1:\(port)" : "https://\(Self.host):\(port)" }

    /// - Parameters:
    ///   - protocols: what the server offers by ALPN.
    ///   - reply: gets each request with its position, counted from zero.
    init(
        isPlain: Bool = false, protocols: [String] = ["h2", "http/1.1"], name: String = PushServer.host,
        _ reply: @escaping @Sendable (Request, Int) -> Reply
    ) async throws {
        self.reply = reply
        self.isPlain = isPlain
        let authority = try TestAuthority()
        roots = [try authority.root()]
        let files = try authority.certificate(for: name, key: P256.Signing.PrivateKey())
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: files.chain.map { .certificate($0) }, privateKey: .privateKey(files.key))
        configuration.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: configuration)
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [self] child in
                counted.withLock { $0 += 1 }
                let respond: @Sendable (any Channel) -> EventLoopFuture<Void> = { stream in
                    stream.eventLoop.makeCompletedFuture {
                        try stream.pipeline.syncOperations.addHandler(Responder(server: self))
                    }
                }
                if isPlain { return child.pipeline.configureHTTPServerPipeline().flatMap { respond(child) } }
                return child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap { child.configureCommonHTTPServerPipeline(respond) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
    }

    func stop() async throws { try await channel.withLock { $0 }?.close() }

    /// Settings with which a sender reaches this server by its name.
    func settings(
        web: WebPushSettings? = nil, apns: APNsSettings? = nil, fcm: FCMSettings? = nil,
        timeout: Duration = .seconds(30)
    ) -> PushSettings {
        PushSettings(
            web: web, apns: apns, fcm: fcm, allowPrivateAddresses: true, timeout: timeout, roots: roots,
            resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] })
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: PushServer
        private var request = Request()

        init(server: PushServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = Request(
                    method: head.method.rawValue, path: head.uri, headers: head.headers,
                    isHTTP2: head.version.major == 2)
            case .body(let buffer): request.body += buffer.readableBytesView
            case .end: respond(context)
            }
        }

        private func respond(_ context: ChannelHandlerContext) {
            let position = server.received.withLock { requests in
                requests.append(request)
                return requests.count - 1
            }
            switch server.reply(request, position) {
            case .silence: break
            case .stall(let status):
                write(context, status, ["Content-Length": "1000"], "begin")
                context.flush()
            case .status(let status, var headers, let body):
                headers.add(name: "Content-Length", value: "\(body.utf8.count)")
                write(context, status, headers, body)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        private func write(_ context: ChannelHandlerContext, _ status: Int, _ headers: HTTPHeaders, _ body: String) {
            let version = request.isHTTP2 ? HTTPVersion.http2 : .http1_1
            let head = HTTPResponseHead(version: version, status: .init(statusCode: status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            // Services respond without a body as one frame; an empty one more is a fault to HTTP/2 clients.
            if body.isEmpty { return }
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
