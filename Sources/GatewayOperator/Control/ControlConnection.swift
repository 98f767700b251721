// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import NIOCore
import NIOHTTP1
import NIOPosix

/// One connection to the control socket, for one request.
struct ControlConnection: Sendable {
    private typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let path: String

    /// Sends a request and reads its response.
    ///
    /// - Parameter read: gets the status and the body, which arrives while it is read.
    /// - Throws: `ControlFailure`, the errors of `read`, and `CancellationError`, which closes the connection.
    func exchange<Value: Sendable>(
        _ request: ControlRequest,
        _ read: @escaping @Sendable (HTTPResponseStatus, inout ControlBody) async throws -> Value
    ) async throws -> Value {
        let channel = try await connected()
        var value: Value?
        do {
            try await channel.executeThenClose { inbound, outbound in
                // All at once: a gateway that has responded may close before a part that follows is written.
                try await outbound.write(contentsOf: [
                    .head(request.head), .body(.byteBuffer(ByteBuffer(bytes: request.body))), .end(nil),
                ])
                value = try await response(from: inbound, read)
            }
        } catch let error as ControlFailure {
            throw error
        } catch  where Task.isCancelled {
            throw CancellationError()
        } catch is ChannelError, is IOError, is HTTPParserError, is CancellationError {
            // A complete response counts, however the connection ends.
            if value == nil { throw ended }
        }
        guard let value else { throw ended }
        return value
    }

    private func response<Value>(
        from inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        _ read: (HTTPResponseStatus, inout ControlBody) async throws -> Value
    ) async throws -> Value {
        var parts = inbound.makeAsyncIterator()
        guard case .head(let head) = try await parts.next(isolation: #isolation) else {
            try Task.checkCancellation()
            throw ended
        }
        var body = ControlBody(parts: parts, ended: ended)
        return try await read(head.status, &body)
    }

    private var ended: ControlFailure {
        ControlFailure("the gateway at \(path) ended before its response was complete; its log has the reason")
    }

    private func connected() async throws -> Channel {
        // One byte ends the path (unix(7)).
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw ControlFailure(
                "\(path) is too long for the path of a socket; choose a gateway.runtime of at most 90 bytes")
        }
        do {
            return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError {
            throw refusal(error.errnoCode)
        }
    }

    private func refusal(_ code: Int32) -> ControlFailure {
        switch code {
        case ENOENT:
            ControlFailure(
                "no gateway runs on this configuration: \(path) does not exist; start it with herald run, or see gateway.runtime"
            )
        case ECONNREFUSED:
            ControlFailure("no gateway runs on this configuration: nobody listens on \(path); start it with herald run")
        case EACCES, EPERM:
            ControlFailure(
                "\(path) is not open to this user; run the command as the gateway's user: sudo -u \(owner ?? "USER") herald"
            )
        default: ControlFailure("the gateway at \(path) cannot be reached: \(SystemError.text(code))")
        }
    }

    /// The gateway's user: the owner of the socket, or of its folder if that cannot be entered.
    private var owner: String? {
        let folder = String(path.dropLast(ControlServer.socketName.utf8.count + 1))
        let found = [path, folder].lazy.compactMap { try? FileManager.default.attributesOfItem(atPath: $0) }.first
        guard let found else { return nil }
        return found[.ownerAccountName] as? String ?? found[.ownerAccountID].map { "user \($0)" }
    }
}

/// The body of a response while it arrives.
struct ControlBody {
    fileprivate var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    fileprivate let ended: ControlFailure

    /// The next bytes; nil at the end of the body.
    ///
    /// - Throws: `ControlFailure` if the connection ends before the body does; `CancellationError`.
    mutating func next() async throws -> ByteBuffer? {
        switch try await parts.next(isolation: #isolation) {
        case .body(let bytes): return bytes
        case .end: return nil
        case .head, nil:
            try Task.checkCancellation()
            throw ended
        }
    }
}
