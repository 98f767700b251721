// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// One connection of a client: requests in, responses out, on the event loop of the door.
///
/// A request gets its response within the same round of the loop, unless the desk needs time. A connection without a request
/// for `idle` is closed, so that slow and silent clients hold no place.
final class DoorConnection<Desk: HTTPDesk>: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let desk: Desk
    private let places: DoorPlaces
    private let idle: TimeAmount
    /// Time for the request of a client that is not allowed.
    private static var shortIdle: TimeAmount { .seconds(5) }
    private var client: [UInt8] = []
    private var isAllowed = false
    private var hasPlace = false
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var lastRequest = NIODeadline.now()
    private var check: Scheduled<Void>?
    /// Whether the response to a whole request is awaited.
    private var isWaiting = false
    /// Whether the client sends no further request.
    private var isOver = false

    init(_ desk: Desk, _ places: DoorPlaces, idle: TimeAmount) {
        (self.desk, self.places, self.idle) = (desk, places, idle)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard check == nil, !hasPlace else { return }
        client = AllowedClients.bytes(of: context.remoteAddress)
        isAllowed = desk.serves(client)
        hasPlace = places.enter(client, isAllowed: isAllowed)
        guard hasPlace else {
            desk.refuseConnection(of: Self.text(context.remoteAddress))
            return context.close(promise: nil)
        }
        lastRequest = .now()
        scheduleCheck(context, in: isAllowed ? idle : min(idle, Self.shortIdle))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        check?.cancel()
        if hasPlace { places.leave(client, isAllowed: isAllowed) }
        hasPlace = false
    }

    /// Closes the connection after a time without a request.
    private func scheduleCheck(_ context: ChannelHandlerContext, in time: TimeAmount) {
        check = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            let silence = NIODeadline.now() - self.lastRequest
            let limit = self.isAllowed ? self.idle : min(self.idle, Self.shortIdle)
            if silence >= limit { return context.close(promise: nil) }
            self.scheduleCheck(context, in: limit - silence)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            body.clear()
            // A request that is refused in any case may have a large body, which nobody waits for.
            if let refusal = desk.refusal(of: head, isAllowed: isAllowed, client: Self.text(context.remoteAddress)) {
                return send(refusal, to: head, context, isLast: true)
            }
            self.head = head
            if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let line = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(line)), promise: nil)
            }
        case .body(var part):
            guard head != nil else { return }
            // A body above the limit is kept up to it, so that its desk sees that.
            let space = Desk.mostBody - body.readableBytes
            if var kept = part.readSlice(length: min(part.readableBytes, space)) { body.writeBuffer(&kept) }
        case .end:
            guard let head else { return }
            self.head = nil
            let isLast = !head.isKeepAlive || !isAllowed
            if isAllowed,
                let later = desk.laterResponse(
                    to: head, body: body, from: client, client: Self.text(context.remoteAddress),
                    on: context.eventLoop)
            {
                (lastRequest, isWaiting) = (.now(), true)
                // The next request of the connection waits in the pipeline.
                later.assumeIsolated().whenComplete { result in
                    self.isWaiting = false
                    guard context.channel.isActive else { return }
                    let response = (try? result.get()) ?? DoorResponse(.internalServerError)
                    self.send(response, to: head, context, isLast: isLast || self.isOver)
                }
                return
            }
            let response = desk.response(
                to: head, body: body, isAllowed: isAllowed, client: Self.text(context.remoteAddress))
            send(response, to: head, context, isLast: isLast)
        }
    }

    private func send(
        _ response: DoorResponse, to head: HTTPRequestHead, _ context: ChannelHandlerContext, isLast: Bool
    ) {
        // Responses that a client asks for and does not read would wait in memory.
        guard context.channel.isWritable else { return context.close(promise: nil) }
        lastRequest = .now()
        var headers = HTTPHeaders([
            ("Content-Length", "\(response.body.count)"), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ])
        if let type = response.contentType { headers.add(name: "Content-Type", value: type) }
        for field in response.fields { headers.add(name: field.name, value: field.value) }
        if isLast {
            headers.add(name: "Connection", value: "close")
        } else if head.version == .http1_0 {
            headers.add(name: "Connection", value: "keep-alive")
        }
        let line = HTTPResponseHead(version: head.version, status: response.status, headers: headers)
        context.write(wrapOutboundOut(.head(line)), promise: nil)
        if head.method != .HEAD, !response.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: response.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let sent = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if isLast { sent.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client sends no further request, and has its last response.
        if case ChannelEvent.inputClosed = event {
            isOver = true
            if !isWaiting { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Bytes that are no HTTP have had their 400 without a body. A client that leaves within a request is no fault.
        if let error = error as? HTTPParserError, error != .invalidEOFState {
            desk.refuseBytes(isAllowed: isAllowed, of: Self.text(context.remoteAddress))
        }
        context.close(promise: nil)
    }

    private static func text(_ address: SocketAddress?) -> String { address?.ipAddress ?? "unknown" }
}
