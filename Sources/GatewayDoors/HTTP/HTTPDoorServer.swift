// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Host
import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// A door by HTTP on an address of its own.
///
/// It has a thread of its own for all connections. The call path shares with it only snapshots that are read without a wait.
package struct HTTPDoorServer<Desk: HTTPDesk>: Service {
    private let address: EndpointAddress
    private let desk: Desk
    private let limits: DoorPlaces.Limits
    private let idle: TimeAmount
    private let onListening: @Sendable (_ port: Int) -> Void
    private let logger: Logger

    /// Largest header field and largest list of header fields, in bytes.
    private static var maxHeader: Int { 65_536 }

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameters:
    ///   - idle: time without a request after which a connection is closed.
    ///   - onListening: called with the port once the socket is open.
    package init(
        _ address: EndpointAddress, _ desk: Desk, limits: DoorPlaces.Limits = DoorPlaces.Limits(),
        idle: TimeAmount = .seconds(60), logger: Logger, onListening: @escaping @Sendable (_ port: Int) -> Void
    ) {
        (self.address, self.desk, self.limits, self.idle) = (address, desk, limits, idle)
        (self.logger, self.onListening) = (logger, onListening)
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    package func run() async throws {
        do {
            let server = server()
            let desk = desk
            try await withGracefulShutdownHandler {
                try await server.run()
            } onGracefulShutdown: {
                desk.end()
            }
        } catch let error as IOError {
            throw ListenRefusal(
                .tcp, host: address.host, port: Int(address.port), code: error.errnoCode, key: Desk.addressKey)
        }
    }

    private func server() -> any Service {
        var quiet = logger
        // The library logs its own state at `info`. It does not concern the operator.
        quiet.logLevel = max(logger.logLevel, .notice)
        var decoder = NIOHTTPDecoderLimitConfiguration()
        (decoder.maxHeaderFieldSize, decoder.maxHeaderListSize) = (Self.maxHeader, Self.maxHeader)
        decoder.maxHeaderFieldCount = 100
        let onListening = onListening
        return DoorChannel(desk: desk, places: DoorPlaces(limits), idle: idle, decoder: decoder).server(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: Int(address.port)), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.most, logger: quiet)),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, eventLoopGroup: Desk.loops, logger: quiet)
    }
}

/// Sets up the connections of the door: HTTP/1 by the event loop itself, without a task for a request.
private struct DoorChannel<Desk: HTTPDesk>: ServerChildChannel {
    let desk: Desk
    let places: DoorPlaces
    let idle: TimeAmount
    let decoder: NIOHTTPDecoderLimitConfiguration

    struct Value: ServerChildChannelValue { let channel: any Channel }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
            if Desk.escapesRequestLines {
                try channel.pipeline.syncOperations.addHandler(RequestLineEscapes(), position: .first)
            }
            try channel.pipeline.syncOperations.addHandler(DoorConnection(desk, places, idle: idle))
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
