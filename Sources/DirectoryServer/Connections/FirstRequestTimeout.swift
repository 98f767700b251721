// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTPTypes

/// Closes a connection that does not complete its first request in time.
///
/// A client with a completed request may wait longer between requests. A client that sends its first request byte by
/// byte would occupy a connection place.
final class FirstRequestTimeout: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    private let timeout: TimeAmount
    private var end: Scheduled<Void>?
    /// The arrival of the last part of the first request.
    private var last: NIODeadline?
    private var isOver = false

    /// - Parameter timeout: timeout for the whole head, and between two parts of the body.
    init(_ timeout: TimeAmount) { self.timeout = timeout }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { wait(timeout, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        wait(timeout, context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isOver {
            last = context.eventLoop.now
            if case .end = unwrapInboundIn(data) { stop() }
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func stop() {
        isOver = true
        end?.cancel()
        end = nil
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        guard end == nil, !isOver else { return }
        schedule(time, context.channel)
    }

    private func schedule(_ time: TimeAmount, _ channel: any Channel) {
        end = channel.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in check(channel) }
    }

    private func check(_ channel: any Channel) {
        end = nil
        guard !isOver else { return }
        guard let last, case let left = last + timeout - channel.eventLoop.now, left > .zero else {
            return channel.close(promise: nil)
        }
        schedule(left, channel)
    }
}
