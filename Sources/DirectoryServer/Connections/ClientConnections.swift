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
    /// At once, at each address; of more, a few have a health check answered and no other request.
    package var most = 4096
    /// Of one client address, or IPv6 /64; 0 is no bound.
    package var perClient = 256
    /// A reverse proxy on this machine brings the connections of many clients.
    package var exemptsLoopback = true
    /// Without a request, or within one that has begun, before a connection is closed; clients reuse one for a minute.
    package var idle = Duration.seconds(75)
    /// For the head of a connection's first request, and between two pieces of its body.
    package var firstRequest = Duration.seconds(20)
    /// In which a client takes at least some 32 kB of an answer that waits for it.
    package var stalled = Duration.seconds(60)
    /// For a whole answer that is streamed, however steadily its client takes it; a gateway gives up after as long.
    package var longestAnswer = Duration.seconds(1800)

    package init() {}

    /// A server at one address that holds clients to this.
    ///
    /// - Parameter now: seconds since 1970.
    func server(now: @escaping @Sendable () -> Int64, logger: Logger) -> HTTPServerBuilder {
        let places = ConnectionPlaces(
            most: most, perClient: perClient, exemptsLoopback: exemptsLoopback, now: now, logger: logger)
        let (first, stalled) = (TimeAmount(firstRequest), TimeAmount(stalled))
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    PlaceKeeper(places), RequestPatience(first), StalledReader(after: stalled),
                ],
                idleTimeout: TimeAmount(idle)))
    }

    /// A server's address, with as many connections as may be.
    func configuration(host: String, port: Int, logger: Logger) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: .hostname(host, port: port),
            availableConnectionsDelegate: MaximumAvailableConnections(most + ConnectionPlaces.reserve, logger: logger))
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
