// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Holds a place of a server for one connection while it lasts; a connection without a place is closed.
final class ConnectionPlace: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// A place that was given.
    struct Stay {
        /// The time after which the connection is closed; nil for none.
        let lifetime: TimeAmount?
        /// Gives the place back.
        let leave: @Sendable () -> Void
    }

    private let enter: (_ client: [UInt8], any Channel) -> Stay?
    private var stay: Stay?
    private var isAsked = false
    private var end: Scheduled<Void>?

    /// - Parameter enter: gives the connection of a client its place; nil if there is none. Called once.
    init(_ enter: @escaping (_ client: [UInt8], any Channel) -> Stay?) { self.enter = enter }

    func channelActive(context: ChannelHandlerContext) {
        take(context)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { take(context) }
    }

    private func take(_ context: ChannelHandlerContext) {
        guard !isAsked else { return }
        isAsked = true
        let channel = context.channel
        stay = enter(ConnectionShares.client(channel.remoteAddress), channel)
        guard let stay else { return channel.close(promise: nil) }
        if let lifetime = stay.lifetime {
            end = context.eventLoop.scheduleTask(in: lifetime) { channel.close(promise: nil) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
        stay?.leave()
        stay = nil
    }
}
