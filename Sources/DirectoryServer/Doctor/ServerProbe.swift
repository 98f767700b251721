// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Host
import NIOCore
import NIOHTTP1
import NIOPosix

/// One request of this machine to a running server, as a monitor sends it.
package struct ServerProbe: Sendable {
    /// The result of a request.
    package enum Outcome: Hashable, Sendable {
        /// Status and the first 256 KiB of the body.
        case response(Int, String)
        /// Nobody listens.
        case refused
        /// The reason why there is no response.
        case failed(String)
    }

    private typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// Longest body that is read.
    private static let limit = 256 << 10

    private let address: EndpointAddress
    private let patience: Duration

    /// - Parameters:
    ///   - address: where the server listens; a wildcard is asked at loopback.
    ///   - patience: the longest wait for connection and response together.
    package init(_ address: EndpointAddress, patience: Duration = .seconds(5)) {
        (self.address, self.patience) = (address, patience)
    }

    /// Sends `GET` for a path over plain HTTP.
    package func get(_ path: String) async -> Outcome {
        await within(patience) { await exchange(path) } ?? .failed("no response within \(patience)")
    }

    /// Connects, and sends nothing.
    package func connect() async -> Outcome {
        await within(patience) {
            do {
                try await connected().executeThenClose { _, _ in }
                return .response(0, "")
            } catch {
                return Self.outcome(of: error)
            }
        } ?? .failed("no connection within \(patience)")
    }

    private func exchange(_ path: String) async -> Outcome {
        do {
            let headers = HTTPHeaders([("Host", address.description), ("Connection", "close")])
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
            return try await connected().executeThenClose { inbound, outbound in
                try await outbound.write(.head(head))
                try await outbound.write(.end(nil))
                var (status, body) = (0, ByteBuffer())
                for try await part in inbound {
                    switch part {
                    case .head(let head): status = Int(head.status.code)
                    case .body(let bytes):
                        if body.readableBytes < Self.limit { body.writeImmutableBuffer(bytes) }
                    case .end: return .response(status, String(buffer: body))
                    }
                }
                return .failed("the response broke off")
            }
        } catch {
            return Self.outcome(of: error)
        }
    }

    private func connected() async throws -> Channel {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: host, port: Int(address.port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func outcome(of error: any Error) -> Outcome {
        let code = (error as? IOError)?.errnoCode ?? (error as? NIOConnectionError).flatMap(Self.code)
        guard let code else { return .failed(error is HTTPParserError ? "it does not speak HTTP" : "\(error)") }
        return code == ECONNREFUSED ? .refused : .failed(SystemError.text(code))
    }

    /// The error number of the only address that was tried.
    private static func code(_ error: NIOConnectionError) -> CInt? {
        (error.connectionErrors.first?.error as? IOError)?.errnoCode
    }
}
