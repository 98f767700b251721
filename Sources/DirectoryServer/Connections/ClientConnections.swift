// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The limits and timeouts of client connections.
///
/// Without them, a client that sends no request or does not read its response holds a file descriptor without end. With
/// a long response it also holds a snapshot of the database.
package struct ClientConnections: Sendable {
    /// Connections per listening address; a few more are accepted for health checks only.
    package var most = 4096
    /// Connections per client address, or IPv6 /64; 0 means no limit.
    package var perClient = 256
    /// True exempts loopback from `perClient`, because a reverse proxy there has the connections of many clients.
    package var exemptsLoopback = true
    /// Timeout of an idle connection, and within a request; clients reuse a connection for a minute.
    package var idle = Duration.seconds(75)
    /// Timeout for the head of the first request, and between two pieces of its body.
    package var firstRequest = Duration.seconds(20)
    /// Timeout in which a client must read about 32 kB of a waiting response.
    package var stalled = Duration.seconds(60)
    /// Timeout of a whole streamed response; a gateway has the same one.
    package var longestResponse = Duration.seconds(1800)

    /// A server for one listening address with these limits.
    ///
    /// - Parameter now: seconds since 1970.
    func server(
        now: @escaping @Sendable () -> Int64, counters: ServerCounters, logger: Logger
    ) -> HTTPServerBuilder {
        let places = ConnectionPlaces(
            most: most, perClient: perClient, exemptsLoopback: exemptsLoopback, now: now, counters: counters,
            logger: logger)
        let (first, stalled) = (TimeAmount(firstRequest), TimeAmount(stalled))
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    PlaceHandler(places), FirstRequestTimeout(first), StalledReader(after: stalled),
                ],
                idleTimeout: TimeAmount(idle)))
    }

    /// A listening address with its connection limit.
    func configuration(host: String, port: Int, logger: Logger) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: .hostname(host, port: port),
            availableConnectionsDelegate: MaximumAvailableConnections(most + ConnectionPlaces.reserve, logger: logger))
    }
}

/// Closes the connection of a client that does not read its response.
///
/// The framework stops writing when more than 64 kB wait for the client, and continues below 32 kB (NIO's default
/// watermarks). A longer pause than the timeout closes the connection and releases the resources of the response.
final class StalledReader: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private var end: Scheduled<Void>?

    init(after timeout: TimeAmount) { self.timeout = timeout }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
        if !context.channel.isWritable {
            let channel = context.channel
            end = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }
}
