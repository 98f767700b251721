// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Enforces the place of a connection: closes one without a place, and serves only health checks on one of the reserve.
final class PlaceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The only path on a connection of the reserve.
    static let health = "/healthz"

    private let places: ConnectionPlaces
    private var place: ConnectionPlaces.Place?
    private var peer: SocketAddress?
    private var isRefused = false

    init(_ places: ConnectionPlaces) { self.places = places }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard place == nil else { return }
        peer = context.channel.remoteAddress
        let place = places.take(peer)
        self.place = place
        if place == .none { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        if let place { places.giveBack(place, of: peer) }
        place = ConnectionPlaces.Place.none
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard place == .reserve else { return context.fireChannelRead(data) }
        if case .head(let head) = unwrapInboundIn(data), !isRefused {
            let path = head.path?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first
            if path.map(String.init) != Self.health { refuse(context) }
        }
        if !isRefused { context.fireChannelRead(data) }
    }

    /// Sends 503 and closes the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        let fields: HTTPFields = [.retryAfter: "5", .connection: "close", .contentLength: "0"]
        context.write(
            wrapOutboundOut(.head(HTTPResponse(status: .serviceUnavailable, headerFields: fields))), promise: nil)
        closeAfter(.end(nil), context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if place == .reserve, case .end(let fields) = unwrapOutboundIn(data) {
            return closeAfter(.end(fields), context, promise)
        }
        context.write(data, promise: promise)
    }

    private func closeAfter(
        _ part: HTTPResponsePart, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil
    ) {
        let channel = context.channel
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(part), promise: written)
    }
}
