// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// What clients can hold by their connections alone, and for how long.
///
/// A client that asks nothing, or does not take its answer, would otherwise hold a file descriptor, and with a long answer
/// a state of the database, for as long as it likes.
package struct ClientConnections: Sendable {
    /// At once, at each address; more wait in the system until others are closed.
    package var most = 4096
    /// Without a request, or within one that has begun, before a connection is closed; clients reuse one for a minute.
    package var idle = Duration.seconds(75)
    /// In which a client takes at least some 32 kB of an answer that waits for it.
    package var stalled = Duration.seconds(60)
    /// For a whole answer that is streamed, however steadily its client takes it; a gateway gives up after as long.
    package var longestAnswer = Duration.seconds(1800)

    package init() {}

    /// A server that holds clients to this.
    var server: HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [StalledReader(after: TimeAmount(stalled))], idleTimeout: TimeAmount(idle)))
    }

    /// A server's address, with as many connections as may be.
    func configuration(host: String, port: Int, logger: Logger) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: .hostname(host, port: port),
            availableConnectionsDelegate: MaximumAvailableConnections(most, logger: logger))
    }
}

/// Closes the connection of a client that does not take its answer.
///
/// The framework stops writing when more than 64 kB wait for the client, and goes on below 32 kB (NIO's usual marks).
/// Waiting longer than the given time for that ends the connection, and with it what the answer holds.
final class StalledReader: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let patience: TimeAmount
    private var end: Scheduled<Void>?

    init(after patience: TimeAmount) { self.patience = patience }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
        if !context.channel.isWritable {
            let channel = context.channel
            end = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }
}
