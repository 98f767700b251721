// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves logos to phones: only `GET` and `HEAD` of `/logos/HASH-HxW.ext`.
///
/// It has a port of its own, so that phones cannot reach the admin page. Connections are bounded in number and
/// lifetime. Request bodies are not read. It shares nothing with the call path.
package struct LogoServer: Service {
    private let listener: HTTPListener
    private let cache: any LogoCache
    private let traffic: LogoTraffic
    private let limits: Limits
    private let logger: Logger

    /// Limits of the connections of phones.
    package struct Limits: Sendable {
        /// Concurrent connections.
        ///
        /// More wait until the system refuses them.
        package var connections = 256
        /// Time after which every connection is closed.
        package var lifetime: Duration = .seconds(30)

        package init() {}
    }

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    package init(
        _ listener: HTTPListener, cache: any LogoCache, traffic: LogoTraffic, limits: Limits = Limits(), logger: Logger
    ) {
        self.listener = listener
        self.cache = cache
        self.traffic = traffic
        self.limits = limits
        self.logger = logger
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    package func run() async throws {
        try await listener.serve(logger: logger) { configuration, onRunning, quiet in
            var configuration = configuration
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(limits.connections, logger: quiet)
            return Application(
                responder: LogoRoute(cache: cache, traffic: traffic),
                server: .http1(
                    configuration: .init(
                        additionalChannelHandlers: [ConnectionLifetime(TimeAmount(limits.lifetime))],
                        idleTimeout: TimeAmount(limits.lifetime),
                        httpDecoderConfiguration: .init(
                            maxHeaderFieldSize: 4096, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100))),
                configuration: configuration, onServerRunning: onRunning, logger: quiet)
        }
    }
}

/// Maps paths to responses.
struct LogoRoute: HTTPResponder {
    let cache: any LogoCache
    let traffic: LogoTraffic

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            return response(.methodNotAllowed, [.allow: "GET, HEAD"])
        }
        let prefix = "/logos/"
        let path = request.uri.path
        guard path.hasPrefix(prefix) else { return response(.notFound) }
        let name = String(path.dropFirst(prefix.count))
        // A small file in the system's cache. Reading it here blocks no call: the call path has threads of its own.
        guard let bytes = cache.read(name), let type = Self.contentType(name) else { return response(.notFound) }
        let tag = "\"\(name)\""
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "public, max-age=31536000, immutable"]
        if let known = request.headers[.ifNoneMatch], EntityTags.list(known, holds: tag) {
            return response(.notModified, headers, file: name)
        }
        headers[.contentType] = type
        let response = self.response(.ok, headers, file: name, bytes: bytes)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func response(
        _ status: HTTPResponse.Status, _ headers: HTTPFields = [:], file: String? = nil, bytes: [UInt8] = []
    ) -> Response {
        traffic.countResponse(status.code, file: file, bytes: bytes.count)
        var headers = headers
        headers[.xContentTypeOptions] = "nosniff"
        guard !bytes.isEmpty else { return Response(status: status, headers: headers) }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func contentType(_ name: String) -> String? {
        switch name.split(separator: ".").last {
        case "png": "image/png"
        case "jpg": "image/jpeg"
        case "bmp": "image/bmp"
        default: nil
        }
    }
}

/// Lists of entity tags (RFC 9110 §13.1.2).
enum EntityTags {
    /// True if the list has the tag, weak or strong, or is `*`.
    static func list(_ list: String, holds tag: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let entry = entry.trimmingPrefix { $0 == " " }
            let end = entry.lastIndex { $0 != " " }.map { entry.index(after: $0) } ?? entry.startIndex
            let word = entry[..<end]
            return word == tag || word == "W/\(tag)" || word == "*"
        }
    }
}

/// Closes a connection after a time, so that an idle peer does not hold it longer.
private final class ConnectionLifetime: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let lifetime: TimeAmount
    private var end: Scheduled<Void>?

    init(_ lifetime: TimeAmount) { self.lifetime = lifetime }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: lifetime) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }
}
