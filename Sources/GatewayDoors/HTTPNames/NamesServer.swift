// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Host
import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// The door for names by HTTP: `GET /name/{number}` on an address of its own.
///
/// It has a thread of its own for all connections. The call path shares with it only snapshots that are read without a wait.
package struct NamesServer: Service {
    private let address: EndpointAddress
    private let desk: NamesDesk
    private let limits: NamesPlaces.Limits
    private let idle: TimeAmount
    private let onListening: @Sendable (_ port: Int) -> Void
    private let logger: Logger

    /// Largest header field and largest list of header fields, in bytes.
    private static let maxHeader = 65_536

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameters:
    ///   - idle: time without a request after which a connection is closed.
    ///   - onListening: called with the port once the socket is open.
    package init(
        _ address: EndpointAddress, _ desk: NamesDesk, limits: NamesPlaces.Limits = NamesPlaces.Limits(),
        idle: TimeAmount = .seconds(60), logger: Logger, onListening: @escaping @Sendable (_ port: Int) -> Void
    ) {
        (self.address, self.desk, self.limits, self.idle) = (address, desk, limits, idle)
        (self.logger, self.onListening) = (logger, onListening)
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await server(on: group).run()
        } catch {
            try? await group.shutdownGracefully()
            guard let error = error as? IOError else { throw error }
            throw ListenRefusal(
                .tcp, host: address.host, port: Int(address.port), code: error.errnoCode, key: "doors.names.listen")
        }
        try await group.shutdownGracefully()
    }

    private func server(on group: any EventLoopGroup) -> any Service {
        var quiet = logger
        // The library logs its own state at `info`. It does not concern the operator.
        quiet.logLevel = max(logger.logLevel, .notice)
        var decoder = NIOHTTPDecoderLimitConfiguration()
        (decoder.maxHeaderFieldSize, decoder.maxHeaderListSize) = (Self.maxHeader, Self.maxHeader)
        decoder.maxHeaderFieldCount = 100
        let onListening = onListening
        return NamesChannel(desk: desk, places: NamesPlaces(limits), idle: idle, decoder: decoder).server(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: Int(address.port)), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.most, logger: quiet)),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, eventLoopGroup: group, logger: quiet)
    }
}

/// Sets up the connections of the door: HTTP/1 by the event loop itself, without a task for a request.
private struct NamesChannel: ServerChildChannel {
    let desk: NamesDesk
    let places: NamesPlaces
    let idle: TimeAmount
    let decoder: NIOHTTPDecoderLimitConfiguration

    struct Value: ServerChildChannelValue { let channel: any Channel }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
            try channel.pipeline.syncOperations.addHandler(RequestLineEscapes(), position: .first)
            try channel.pipeline.syncOperations.addHandler(NamesConnection(desk, places, idle: idle))
            return Value(channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        // The handler of the connection does the work. It ends with any error, and half a request holds no reload.
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}
